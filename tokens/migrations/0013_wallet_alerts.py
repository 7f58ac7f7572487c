from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import F, Func, Value
from django.db.models.lookups import Exact

# The former version stores an alert as a line "kind: text", and reads `trouble` until the version after this one drops it.
FILL = """
UPDATE tokens_deploywallet SET alerts = (
    SELECT coalesce(jsonb_object_agg(split_part(line, ': ', 1), substr(line, strpos(line, ': ') + 2)), '{}')
    FROM regexp_split_to_table(trouble, E'\\n') AS line
    WHERE split_part(line, ': ', 1) IN ('balance', 'signer', 'fees', 'tip', 'delegation', 'sending')
) WHERE trouble <> '';
"""


class Migration(migrations.Migration):
    """Alerts of wallets by their kind. An installation has tens of wallets at most."""

    replaces = [("tokens", "0065_wallet_alerts")]
    dependencies = [("tokens", "0012_net_amounts_of_days")]

    operations = [
        migrations.AddField(
            "deploywallet",
            "alerts",
            models.JSONField(blank=True, db_default=Value({}, models.JSONField()), default=dict),
        ),
        migrations.RunSQL(FILL),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("deploywallet", "trouble")],
            database_operations=[
                migrations.RunSQL("ALTER TABLE tokens_deploywallet ALTER COLUMN trouble SET DEFAULT ''")
            ],
        ),
        AddConstraintNotValid(
            "deploywallet",
            models.CheckConstraint(
                condition=Exact(
                    Func(
                        F("alerts"),
                        Value(
                            ["balance", "signer", "fees", "tip", "delegation", "sending"],
                            ArrayField(models.TextField()),
                        ),
                        template="%(expressions)s",
                        arg_joiner=" - ",
                        output_field=models.JSONField(),
                    ),
                    Value({}, models.JSONField()),
                ),
                name="deploy_wallet_alerts_known",
            ),
        ),
    ]
