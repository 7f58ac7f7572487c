from django.db import migrations

from config.postgresql.statement_triggers import make_fill, make_triggers

# Events that name a currency are of all tokens that pay it: only events of a token's own locker or pool are its own.
# A claim is deleted before its event.
ADD_CLAIMS = """
    INSERT INTO tokens_accountclaimsum AS stored (chain_id, recipient, currency, day, amount)
        SELECT claim.chain_id, claim.recipient, claim.currency, (claim.at AT TIME ZONE 'UTC')::date,
            sum(claim.sign * claim.amount)
        FROM ({source}) AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (chain_id, recipient, currency, day) DO UPDATE SET amount = stored.amount + EXCLUDED.amount;
    INSERT INTO tokens_claimsum AS stored (token_id, day, recipient, currency, amount)
        SELECT event.token_id, (claim.at AT TIME ZONE 'UTC')::date, claim.recipient, claim.currency,
            sum(claim.sign * claim.amount)
        FROM ({source}) AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        WHERE event.token_id IS NOT NULL AND event.kind = 'fees_claimed' AND NOT event.arguments ? 'token'
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (token_id, day, recipient, currency) DO UPDATE SET amount = stored.amount + EXCLUDED.amount;
"""
CLAIMS_OF_BLOCKS = """
    SELECT 1 AS sign, claim.* FROM tokens_tokenevent AS event JOIN tokens_feeclaim AS claim ON claim.event_id = event.id
    WHERE event.chain_id = of_chain AND event.block_number > after_block AND event.block_number <= up_to_block
"""


class Migration(migrations.Migration):
    """Daily sums of claims, by triggers. Their table is locked alone: writers lock it before or after that of events."""

    dependencies = [("tokens", "0043_fee_sums")]

    operations = [
        make_fill("fill_claims", ADD_CLAIMS, CLAIMS_OF_BLOCKS),
        *make_triggers("tokens_feeclaim", "sum_claims", ADD_CLAIMS),
    ]
