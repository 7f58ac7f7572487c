from django.db import migrations

# Tokens without a starting market cap are few; those of EVM chains whose quote token's decimals are unknown are fewer.
FILL = """
SET LOCAL statement_timeout = 0;
INSERT INTO tokens_poolbacklog (token_id, next_block)
SELECT token.id, token.block_number FROM tokens_token AS token
JOIN tokens_launchfacts AS launch ON launch.token_id = token.id
WHERE token.starting_market_cap IS NULL AND NOT token.unindexed AND token.pool_address LIKE '0x%'
    AND launch.facts #>> '{pool,pair_decimals}' IS NULL
ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):
    """Backlogs of stored tokens without trades, because their quote token's decimals are unknown."""

    dependencies = [("tokens", "0050_pool_backlogs")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
