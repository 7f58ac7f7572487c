from django.db import migrations

from config.postgresql.batches import RunBatches, by_keys


# A text in lower case folds to the same text as its original, so no token is read. Only rows that differ are written.
FOLD = """
UPDATE tokens_searchentry SET text = fold_case(text)
    WHERE token_id >= %(first)s AND token_id < %(end)s
    AND octet_length(text) <> char_length(text) AND text <> fold_case(text)
"""
# Tokens without trades, because their quote token's decimals are unknown. Those without a starting market cap are few;
# those of EVM chains with unknown decimals are fewer.
BACKLOGS = """
SET LOCAL statement_timeout = 0;
INSERT INTO tokens_poolbacklog (token_id, next_block)
SELECT token.id, token.block_number FROM tokens_token AS token
JOIN tokens_launchfacts AS launch ON launch.token_id = token.id
WHERE token.starting_market_cap IS NULL AND NOT token.unindexed AND token.pool_address LIKE '0x%%'
    AND launch.facts #>> '{pool,pair_decimals}' IS NULL
ON CONFLICT DO NOTHING;
"""
# Version 0.2.0 stores "status: text"; it goes on reading the text.
ERROR_CODES = """
UPDATE tokens_signedtransaction SET error_code = CASE split_part(answer, ': ', 1)
    WHEN 'nonce spent' THEN 'nonce_spent'
    WHEN 'underpriced' THEN 'underpriced'
    WHEN 'fee too low' THEN 'fee_too_low'
    WHEN 'too poor' THEN 'insufficient_funds'
    WHEN 'refused' THEN 'rejected'
    ELSE 'unknown'
END
WHERE id >= %(first)s AND id < %(end)s AND answer <> '' AND error_code = ''
"""
# The requests that are retried because of the chain's nodes. Any other pending one waits for its transaction.
OUTAGES = """
UPDATE tokens_indexrequest SET node_outage = true
WHERE id >= %(first)s AND id < %(end)s AND status = 'pending' AND NOT node_outage AND starts_with(last_error, 'chain ')
    AND last_error NOT LIKE '%% has no such transaction%%'
    AND last_error NOT LIKE '%% does not have the transaction%%'
"""


class Migration(migrations.Migration):
    """Stored rows in batches: search entries in folded case, backlogs, error codes, and requests in an outage of nodes.

    After 0016, whose triggers fold the search entries of tokens that are written meanwhile.
    """

    atomic = False
    replaces = [
        ("tokens", name)
        for name in """
        0051_undecoded_pools 0055_stored_searches 0063_graduations_of_declared_curves 0069_filled_error_codes
        """.split()
    ]
    dependencies = [("tokens", "0016_functions")]

    operations = [
        RunBatches(by_keys("tokens_searchentry", "token_id", FOLD)),
        RunBatches(lambda _: [(BACKLOGS, {})]),
        RunBatches(by_keys("tokens_signedtransaction", "id", ERROR_CODES)),
        RunBatches(by_keys("tokens_indexrequest", "id", OUTAGES)),
    ]
