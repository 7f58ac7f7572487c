from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Functions and triggers from their files, and the validation of event kinds: writers go on."""

    replaces = [
        ("tokens", name)
        for name in """
        0054_folded_search 0059_validated_kinds 0067_event_audiences_and_outages 0068_functions_in_files
        """.split()
    ]
    dependencies = [
        ("accounts", "0002_disabled_by"),
        ("events", "0003_audience_of_stored_events"),
        ("tokens", "0015_indexes"),
    ]

    operations = [
        load_sql("tokens/models/short_grams.sql", "526d56990b0a"),
        load_sql("tokens/indexing/search_and_market_rows.sql", "22ee5635709b"),
        load_sql("tokens/indexing/search_index_flush.sql", "ba4cdfe4e49f"),
        load_sql("tokens/indexing/token_events.sql", "979c5f3acb00"),
        load_sql("tokens/indexing/claim_events.sql", "019ee988744a"),
        load_sql("tokens/indexing/market_events.sql", "a1980f443aa5"),
        load_sql("tokens/deploying/deployment_events.sql", "25ad11785ed2"),
        ValidateConstraint("tokenevent", "token_event_kind_known"),
    ]
