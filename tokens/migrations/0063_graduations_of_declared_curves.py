from django.db import migrations

# Only tokens with several pools are visited: few, of launchpads that are declared.
GRADUATE = """
UPDATE tokens_market AS market SET graduated_at = moved.at, curve_progress = 100
FROM (
    SELECT DISTINCT ON (event.token_id) event.token_id, event.at
    FROM (SELECT DISTINCT token_id FROM tokens_tokenpool WHERE is_currency0 IS NOT NULL) AS later
    JOIN tokens_launchfacts AS launch USING (token_id)
    JOIN tokens_tokenevent AS event USING (token_id)
    WHERE event.kind = 'pool_changed' AND launch.facts ->> 'curve_config' IS NOT NULL
    ORDER BY event.token_id, event.block_number, event.log_index
) AS moved
WHERE market.token_id = moved.token_id AND market.graduated_at IS NULL
"""


class Migration(migrations.Migration):
    """Times at which tokens left their declared curves, from stored events."""

    dependencies = [("tokens", "0062_token_fees")]

    operations = [migrations.RunSQL(GRADUATE, migrations.RunSQL.noop)]
