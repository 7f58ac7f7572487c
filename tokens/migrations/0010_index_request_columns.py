from django.db import migrations, models


# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "tokens_indexrequest" ADD COLUMN "undecodable" boolean DEFAULT false NOT NULL,
    ADD COLUMN "contract" varchar(44) DEFAULT '' NOT NULL,
    ADD COLUMN "launchpad" varchar(32) DEFAULT '' NOT NULL,
    ADD COLUMN "node_outage" boolean DEFAULT false NOT NULL
"""
FIELDS = {
    "undecodable": models.BooleanField(db_default=False, default=False),
    "contract": models.CharField(blank=True, db_default="", default="", max_length=44),
    "launchpad": models.CharField(blank=True, db_default="", default="", max_length=32),
    "node_outage": models.BooleanField(db_default=False, default=False),
}


class Migration(migrations.Migration):
    """Undecodable logs with their contract and launchpad, and requests in an outage of nodes; 0017 fills the latter."""

    replaces = [("tokens", name) for name in "0052_undecodable_requests 0060_undecodable_logs".split()]
    dependencies = [("tokens", "0009_coverage_alarm_counts")]

    operations = [
        migrations.RunSQL(
            ADD, state_operations=[migrations.AddField("indexrequest", name, field) for name, field in FIELDS.items()]
        ),
    ]
