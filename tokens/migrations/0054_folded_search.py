from django.db import migrations

NAMES = "{fold}(name) || E'\\n' || {fold}(symbol)"
# The functions are those of 0028 and 0004, with another text.
TRIGGERS = """
CREATE OR REPLACE FUNCTION add_rows_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tokens_market (token_id) SELECT id FROM added ON CONFLICT DO NOTHING;
    INSERT INTO tokens_searchentry (token_id, is_listed, text, deployed_at, chain_id, msg_sender, requestor_fid,
        champagne, pair, paired_token, pool_address, interface)
        SELECT id, NOT (blocked OR unindexed), {text}, deployed_at, chain_id, msg_sender,
            requestor_fid, champagne, lower(pair), paired_token, pool_address,
            COALESCE("left"(lower(social_context ->> 'interface'), 101), '')
        FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION update_search_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tokens_searchentry SET (token_id, is_listed, text, deployed_at, chain_id, msg_sender, requestor_fid,
        champagne, pair, paired_token, pool_address, interface)
        = (SELECT id, NOT (blocked OR unindexed), {text}, deployed_at, chain_id, msg_sender,
            requestor_fid, champagne, lower(pair), paired_token, pool_address,
            COALESCE("left"(lower(social_context ->> 'interface'), 101), '')
        FROM (SELECT NEW.*) AS changed)
    WHERE token_id = NEW.id;
    RETURN NULL;
END
$$;
"""


def write_texts(fold):
    """Return the trigger functions of search entries, with names and symbols by this function of case."""
    return TRIGGERS.format(text=NAMES.format(fold=fold))


class Migration(migrations.Migration):
    """Search entries with names and symbols in folded case, for tokens that are written from now on."""

    dependencies = [("accounts", "0018_fold_case"), ("tokens", "0053_index_of_undecodable_requests")]

    operations = [migrations.RunSQL(write_texts("fold_case"), write_texts("lower"))]
