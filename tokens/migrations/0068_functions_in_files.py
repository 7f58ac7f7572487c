from django.db import migrations

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Trigger functions and the functions that they call, from their files."""

    dependencies = [("tokens", "0067_event_audiences_and_outages")]

    operations = [
        load_sql("tokens/models/short_grams.sql", "526d56990b0a"),
        load_sql("tokens/indexing/search_and_market_rows.sql", "22ee5635709b"),
        load_sql("tokens/indexing/search_index_flush.sql", "ba4cdfe4e49f"),
        load_sql("tokens/indexing/token_events.sql", "979c5f3acb00"),
        load_sql("tokens/indexing/claim_events.sql", "019ee988744a"),
        load_sql("tokens/indexing/market_events.sql", "a1980f443aa5"),
        load_sql("tokens/deploying/deployment_events.sql", "25ad11785ed2"),
        load_sql("tokens/fees/collection_sums.sql", "8bfa115dd5d5"),
        load_sql("tokens/fees/claim_sums.sql", "8099d54c3944"),
    ]
