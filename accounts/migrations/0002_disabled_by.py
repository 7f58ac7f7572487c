from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from config.postgresql.sql_files import load_sql

# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "accounts_webhookendpoint" ADD COLUMN "disabled_by" varchar(8) DEFAULT '' NOT NULL,
    ADD CONSTRAINT "webhook_endpoint_disabled_by_known"
    CHECK ("disabled_by" IN ('', 'owner', 'operator', 'service')) NOT VALID
"""
# The texts of version 0.2.0, which had no column.
FILL = """
UPDATE accounts_webhookendpoint SET disabled_by = CASE
    WHEN disabled_reason LIKE 'disabled by an operator%' THEN 'operator'
    WHEN disabled_reason LIKE 'disabled by %' THEN 'owner'
    ELSE 'service'
END
WHERE disabled_at IS NOT NULL
"""


class Migration(migrations.Migration):
    """Who disabled a webhook endpoint, and the function that folds case.

    An installation has hundreds of endpoints at most.
    """

    replaces = [
        ("accounts", name)
        for name in "0017_disabled_by 0018_fold_case 0020_known_disabled_by 0022_functions_in_files".split()
    ]
    dependencies = [("accounts", "0001_version_0_2_0")]

    operations = [
        load_sql("config/postgresql/case_folding.sql", "09b6ee31e5cf", always=True),
        migrations.RunSQL(
            ADD,
            state_operations=[
                migrations.AddField(
                    "webhookendpoint",
                    "disabled_by",
                    models.CharField(
                        blank=True,
                        choices=[("owner", "Owner"), ("operator", "Operator"), ("service", "Service")],
                        db_default="",
                        default="",
                        max_length=8,
                    ),
                ),
                AddConstraintNotValid(
                    "webhookendpoint",
                    models.CheckConstraint(
                        condition=models.Q(disabled_by__in=["", "owner", "operator", "service"]),
                        name="webhook_endpoint_disabled_by_known",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FILL),
    ]
