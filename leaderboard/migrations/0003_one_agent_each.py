from django.db import migrations, models

# Several agents could share a token before. It stays with the one that an operator created, else with the oldest. The
# others lose it until an operator decides otherwise.
# All parts of a description had one time; each part now starts with that time.
# One statement: a row updated twice has pending constraint checks, which block ALTER TABLE.
RESOLVE_SHARED_TOKENS = """
UPDATE leaderboard_agent AS agent
SET token_chain_id = CASE WHEN sharing.place = 1 THEN agent.token_chain_id END,
    token_address = CASE WHEN sharing.place = 1 THEN agent.token_address ELSE '' END,
    name_told_at = described_at, fid_told_at = described_at, token_told_at = described_at,
    creator_told_at = described_at, wallets_told_at = described_at
FROM (
    SELECT id, row_number() OVER (
        PARTITION BY token_chain_id, token_address ORDER BY partner_key_id IS NOT NULL, id
    ) AS place
    FROM leaderboard_agent
) AS sharing
WHERE sharing.id = agent.id
"""


def add_time_column(name):
    return migrations.AddField(
        model_name="agent",
        name=name,
        field=models.DateTimeField(blank=True, editable=False, null=True),
    )


class Migration(migrations.Migration):
    """A token, a FID and a run belong to one agent each, and each part of a description has its own time."""

    dependencies = [
        ("leaderboard", "0002_roles"),
    ]

    operations = [
        add_time_column("name_told_at"),
        add_time_column("fid_told_at"),
        add_time_column("token_told_at"),
        add_time_column("creator_told_at"),
        add_time_column("wallets_told_at"),
        migrations.RunSQL(RESOLVE_SHARED_TOKENS, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.UniqueConstraint(
                fields=("token_address", "token_chain_id"),
                name="agent_token_unique",
                violation_error_message="Another agent has this token already: take it from that one first.",
            ),
        ),
        migrations.AlterConstraint(
            model_name="agent",
            name="agent_fid_unique",
            constraint=models.UniqueConstraint(
                fields=("fid",),
                name="agent_fid_unique",
                violation_error_message="Another agent has this FID already: take it from that one first.",
            ),
        ),
        migrations.AddField(model_name="run", name="run_key", field=models.BigIntegerField(null=True)),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(fields=("agent", "run_key", "started_at"), name="run_once"),
        ),
    ]
