from django.db import migrations, models

# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "tokens_indexrequest" ADD COLUMN "contract" varchar(44) DEFAULT '' NOT NULL,
    ADD COLUMN "launchpad" varchar(32) DEFAULT '' NOT NULL
"""
DROP = 'ALTER TABLE "tokens_indexrequest" DROP COLUMN "contract", DROP COLUMN "launchpad"'


class Migration(migrations.Migration):
    """Contract and launchpad of undecodable logs."""

    dependencies = [("tokens", "0059_validated_kinds")]

    operations = [
        migrations.RunSQL(
            ADD,
            DROP,
            state_operations=[
                migrations.AddField(
                    "indexrequest", "contract", models.CharField(blank=True, db_default="", default="", max_length=44)
                ),
                migrations.AddField(
                    "indexrequest", "launchpad", models.CharField(blank=True, db_default="", default="", max_length=32)
                ),
            ],
        ),
    ]
