from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

FORMER_KINDS = [
    "admin_updated", "image_updated", "metadata_updated", "verified", "reward_recipient_updated",
    "reward_admin_updated", "fee_preference_updated", "fees_collected", "fees_claimed", "team_fees_claimed", "vault_claimed",
    "vault_admin_updated", "airdrop_claimed", "airdrop_root_updated", "airdrop_admin_updated",
]  # fmt: skip
KINDS = [*FORMER_KINDS, "name_updated", "symbol_updated", "uri_updated", "pool_changed"]


def replace_constraint(kinds, suffix):
    """Return the statement that allows these kinds. One statement: Django renders models between two operations."""
    values = ", ".join(f"'{kind}'" for kind in kinds)
    return f"""
ALTER TABLE "tokens_tokenevent" DROP CONSTRAINT "token_event_kind_known",
    ADD CONSTRAINT "token_event_kind_known" CHECK ("kind" IN ({values})) {suffix}
"""


class Migration(migrations.Migration):
    """Kinds of events that declared launchpads have. 0059 validates the constraint, without a lock."""

    dependencies = [("tokens", "0057_token_pools")]

    operations = [
        migrations.RunSQL(
            replace_constraint(KINDS, "NOT VALID"),
            replace_constraint(FORMER_KINDS, ""),
            state_operations=[
                migrations.RemoveConstraint("tokenevent", "token_event_kind_known"),
                migrations.AlterField(
                    "tokenevent",
                    "kind",
                    models.CharField(choices=[(kind, kind.replace("_", " ")) for kind in KINDS], max_length=32),
                ),
                AddConstraintNotValid(
                    "tokenevent",
                    models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="token_event_kind_known"),
                ),
            ],
        ),
    ]
