from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q

from config.postgresql.sql_files import load_sql

# Events with an owner are few, and published rows never change: no other process waits for these.
FILL = """
SET LOCAL statement_timeout = '30min';
UPDATE events_event SET audience = CASE owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END
    WHERE owner_id IS NOT NULL AND audience = 'public';
"""
# At once: Django renders models between two operations, and would hold the lock meanwhile.
ADD_TO_OUTBOX = """
ALTER TABLE "events_outboxevent" ADD COLUMN "audience" varchar(9) DEFAULT 'public' NOT NULL;
"""
FILL_OUTBOX = """
UPDATE events_outboxevent SET audience = CASE owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END
    WHERE owner_id IS NOT NULL;
"""
ADD_CONSTRAINT = """
ALTER TABLE "events_outboxevent" ADD CONSTRAINT "outbox_event_audience_known" CHECK (
    "audience" = 'partner' AND "owner_id" > 0 AND "owner_id" IS NOT NULL
    OR ("owner_id" IS NULL OR "owner_id" <= 0) AND "audience" IN ('public', 'operators', 'stream')
) NOT VALID;
"""


class Migration(migrations.Migration):
    """Audience of stored events, and in the outbox, where a constraint refuses one that contradicts the owner.

    The outbox is locked last, and holds the events of a second.
    """

    replaces = [("events", "0003_audience_of_outbox"), ("events", "0004_functions_in_files")]
    dependencies = [("events", "0002_audience_of_events")]

    operations = [
        migrations.RunSQL(FILL),
        migrations.RunSQL(
            ADD_TO_OUTBOX + FILL_OUTBOX + ADD_CONSTRAINT,
            state_operations=[
                migrations.AddField(
                    "outboxevent",
                    "audience",
                    models.CharField(
                        choices=[
                            ("public", "all subscribers"),
                            ("partner", "Partner"),
                            ("operators", "Operators"),
                            ("stream", "clients of the stream"),
                        ],
                        db_default="public",
                        default="public",
                        max_length=9,
                    ),
                ),
                AddConstraintNotValid(
                    "outboxevent",
                    models.CheckConstraint(
                        condition=Q(audience="partner", owner_id__isnull=False, owner_id__gt=0)
                        | Q(
                            Q(owner_id__isnull=True) | Q(owner_id__lte=0),
                            audience__in=["public", "operators", "stream"],
                        ),
                        name="outbox_event_audience_known",
                    ),
                ),
            ],
        ),
        load_sql("config/events/event_audience.sql", "dcbab05adb7a", triggers_on="events_outboxevent"),
    ]
