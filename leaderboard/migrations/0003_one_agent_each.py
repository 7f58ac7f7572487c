from django.db import migrations, models

# Until now several agents could share a token: it stays with the one that operators made, else with the one that was
# known first. The others stand alone until operators decide otherwise.
# One time held for all parts of a description, and what was older changed none of them.
# In one statement: a row that is changed twice has checks pending, with which its table can't be altered.
TELL_APART = """
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


def told_at(name):
    return migrations.AddField(
        model_name="agent",
        name=name,
        field=models.DateTimeField(blank=True, editable=False, null=True),
    )


class Migration(migrations.Migration):
    """A token, a FID and a run are one agent's, and each part of a description has its own time."""

    dependencies = [
        ("leaderboard", "0002_roles"),
    ]

    operations = [
        told_at("name_told_at"),
        told_at("fid_told_at"),
        told_at("token_told_at"),
        told_at("creator_told_at"),
        told_at("wallets_told_at"),
        migrations.RunSQL(TELL_APART, migrations.RunSQL.noop),
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
