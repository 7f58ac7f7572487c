from django.db import migrations

from config.postgresql.batches import RunBatches, by_keys

# A text in lower case folds to the same text as its original, so no token is read. Only rows that differ are written.
FOLD = """
UPDATE tokens_searchentry SET text = fold_case(text)
    WHERE token_id >= %(first)s AND token_id < %(end)s
    AND octet_length(text) <> char_length(text) AND text <> fold_case(text)
"""
UNFOLD = """
UPDATE tokens_searchentry AS entry SET text = lower(token.name) || E'\\n' || lower(token.symbol)
    FROM tokens_token AS token
    WHERE token.id = entry.token_id AND entry.token_id >= %(first)s AND entry.token_id < %(end)s
    AND entry.text <> lower(token.name) || E'\\n' || lower(token.symbol)
"""


class Migration(migrations.Migration):
    """Stored search entries in folded case: apart from 0054, whose triggers have to be in use before."""

    atomic = False
    dependencies = [("tokens", "0054_folded_search")]

    operations = [RunBatches(*(by_keys("tokens_searchentry", "token_id", text) for text in (FOLD, UNFOLD)))]
