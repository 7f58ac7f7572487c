from django.db import migrations, models

# The texts of the former version, which had no column.
_FILL = """
UPDATE accounts_webhookendpoint SET disabled_by = CASE
    WHEN disabled_reason LIKE 'disabled by an operator%' THEN 'operator'
    WHEN disabled_reason LIKE 'disabled by %' THEN 'owner'
    ELSE 'service'
END
WHERE disabled_at IS NOT NULL
"""


class Migration(migrations.Migration):
    """Who disabled a webhook endpoint, as a column. An installation has hundreds of endpoints at most."""

    dependencies = [("accounts", "0016_lookups_of_profiles")]

    operations = [
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
        migrations.RunSQL(_FILL, migrations.RunSQL.noop),
    ]
