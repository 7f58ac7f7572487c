import django.db.models.functions.datetime
from django.db import migrations, models

COLUMNS = [
    ("type", models.CharField(max_length=32)),
    ("version", models.SmallIntegerField()),
    ("chain_id", models.BigIntegerField(null=True)),
    ("subject", models.TextField()),
    ("owner_id", models.BigIntegerField(null=True)),
    ("data", models.JSONField()),
    ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
]
# The primary key of a partitioned table includes the column of the partitions.
EVENTS = """
CREATE SEQUENCE events_event_numbers;
CREATE TABLE events_event (
    id bigint NOT NULL, type varchar(32) NOT NULL, version smallint NOT NULL, chain_id bigint, subject text NOT NULL,
    owner_id bigint, data jsonb NOT NULL, created_at timestamptz NOT NULL, published_at timestamptz NOT NULL,
    PRIMARY KEY (id, published_at)
) PARTITION BY RANGE (published_at);
CREATE INDEX event_by_type ON events_event (type, id);
CREATE INDEX event_by_chain ON events_event (chain_id, id);
-- Rows live for a fraction of a second: the scan for new ones must not meet thousands of dead ones.
ALTER TABLE events_outboxevent SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
"""


class Migration(migrations.Migration):
    """The outbox and the numbered events in weekly partitions, as in version 0.2.0."""

    initial = True
    replaces = [("events", "0001_events")]
    dependencies = []

    operations = [
        migrations.CreateModel(
            name="OutboxEvent",
            fields=[*COLUMNS, ("id", models.BigAutoField(primary_key=True, serialize=False))],
            options={"abstract": False},
        ),
        migrations.RunSQL(
            EVENTS,
            "DROP TABLE events_event; DROP SEQUENCE events_event_numbers;",
            state_operations=[
                migrations.CreateModel(
                    name="Event",
                    fields=[
                        *COLUMNS,
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("published_at", models.DateTimeField()),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["type", "id"], name="event_by_type"),
                            models.Index(fields=["chain_id", "id"], name="event_by_chain"),
                        ],
                    },
                ),
            ],
        ),
    ]
