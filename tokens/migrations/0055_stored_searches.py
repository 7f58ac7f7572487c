from django.db import migrations

# One reading of the table, which needs no token: a text in lower case folds to the same text as its original. Only rows
# that differ are locked and written. Millions of rows take longer than the default limit of a statement.
FOLD = """
SET LOCAL statement_timeout = '30min';
UPDATE tokens_searchentry SET text = fold_case(text)
    WHERE octet_length(text) <> char_length(text) AND text <> fold_case(text);
"""
UNFOLD = """
SET LOCAL statement_timeout = '30min';
UPDATE tokens_searchentry AS entry SET text = lower(token.name) || E'\\n' || lower(token.symbol)
    FROM tokens_token AS token
    WHERE token.id = entry.token_id AND entry.text <> lower(token.name) || E'\\n' || lower(token.symbol);
"""


class Migration(migrations.Migration):
    """Stored search entries in folded case: apart from 0054, whose triggers have to be in use before."""

    dependencies = [("tokens", "0054_folded_search")]

    operations = [migrations.RunSQL(FOLD, UNFOLD)]
