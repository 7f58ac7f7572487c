from django.db import migrations

from config.postgresql.batches import RunBatches, by_keys

# The former version stores "status: text"; it goes on reading the text.
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
    """Error codes of stored broadcasts, and stored requests in an outage of nodes: apart from 0066 and 0067.

    These lock the tables when they add the columns.
    """

    atomic = False
    dependencies = [("tokens", "0068_functions_in_files")]

    operations = [
        RunBatches(by_keys("tokens_signedtransaction", "id", ERROR_CODES), RunBatches.noop),
        RunBatches(by_keys("tokens_indexrequest", "id", OUTAGES), RunBatches.noop),
    ]
