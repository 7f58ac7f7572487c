import django.contrib.postgres.indexes
import django.db.models.deletion
from django.contrib.postgres.operations import BtreeGinExtension
from django.db import migrations, models

import tokens.models.expressions

# Column of a search entry -> what it says of a token.
OF_TEXT = {
    "token_id": "id",
    "is_listed": "NOT (blocked OR unindexed)",
    "text": "lower(name) || E'\\n' || lower(symbol)",
    "deployed_at": "deployed_at",
}
OF_FILTERS = {
    "chain_id": "chain_id",
    "msg_sender": "msg_sender",
    "requestor_fid": "requestor_fid",
    "champagne": "champagne",
    "pair": "lower(pair)",
    "paired_token": "paired_token",
    "pool_address": "pool_address",
    "interface": "COALESCE(\"left\"(lower(social_context ->> 'interface'), 101), '')",
}
# The columns of a token that these read.
READ_FOR_TEXT = ("blocked", "unindexed", "name", "symbol", "deployed_at")
READ_FOR_FILTERS = (
    "chain_id",
    "msg_sender",
    "requestor_fid",
    "champagne",
    "pair",
    "paired_token",
    "pool_address",
    "social_context",
)


def write_entries(entry, read):
    """Have the triggers write these columns of search entries, and write all entries anew."""
    columns, values = ", ".join(entry), ", ".join(entry.values())
    old, new = (", ".join(f"{row}.{column}" for column in read) for row in ("OLD", "NEW"))
    return f"""
CREATE OR REPLACE FUNCTION add_rows_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tokens_market (token_id, priority)
        SELECT id, CASE WHEN deployed_at > now() - interval '1 day' THEN 1 ELSE 3 END FROM added
        ON CONFLICT DO NOTHING;
    INSERT INTO tokens_searchentry ({columns}) SELECT {values} FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION update_search_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tokens_searchentry SET ({columns}) = (SELECT {values} FROM (SELECT NEW.*) AS changed)
    WHERE token_id = NEW.id;
    RETURN NULL;
END
$$;
DROP TRIGGER search_entry_follows ON tokens_token;
CREATE TRIGGER search_entry_follows AFTER UPDATE ON tokens_token FOR EACH ROW
    WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION update_search_entry();
INSERT INTO tokens_searchentry ({columns}) SELECT {values} FROM tokens_token;
"""


# Of the text the planner needs a large sample, of the grams none: it would run the function on every row of it.
STATISTICS = """
ALTER TABLE tokens_searchentry ALTER COLUMN text SET STATISTICS 1000;
ALTER INDEX search_by_everything ALTER COLUMN 2 SET STATISTICS 0;
"""


class Migration(migrations.Migration):
    """One index for a search and its filters together: search entries get what the filters compare.

    The table is made anew, because it can be written from the tokens, and that is quicker than changing every row.
    """

    dependencies = [
        ("tokens", "0003_want_deployers"),
    ]

    operations = [
        BtreeGinExtension(),
        migrations.RunSQL(migrations.RunSQL.noop, write_entries(OF_TEXT, READ_FOR_TEXT)),
        migrations.DeleteModel("SearchEntry"),
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_entry",
                        serialize=False,
                        to="tokens.token",
                    ),
                ),
                ("is_listed", models.BooleanField()),
                ("text", models.TextField()),
                ("deployed_at", models.DateTimeField()),
                ("chain_id", models.BigIntegerField()),
                ("msg_sender", models.CharField(max_length=44)),
                ("requestor_fid", models.BigIntegerField(null=True)),
                ("champagne", models.BooleanField()),
                ("pair", models.TextField()),
                ("paired_token", models.CharField(max_length=44)),
                ("pool_address", models.CharField(max_length=66)),
                ("interface", models.TextField()),
            ],
        ),
        migrations.RunSQL(
            write_entries(OF_TEXT | OF_FILTERS, READ_FOR_TEXT + READ_FOR_FILTERS), migrations.RunSQL.noop
        ),
        migrations.AddIndex(
            model_name="searchentry",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(models.F("text"), name="gin_trgm_ops"),
                tokens.models.expressions.ShortGrams("text"),
                models.F("chain_id"),
                models.F("msg_sender"),
                models.F("requestor_fid"),
                models.F("champagne"),
                models.F("pair"),
                models.F("paired_token"),
                models.F("pool_address"),
                models.F("interface"),
                fastupdate=False,
                name="search_by_everything",
            ),
        ),
        migrations.RunSQL(STATISTICS, migrations.RunSQL.noop),
    ]
