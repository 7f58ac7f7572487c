from django.db import migrations

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Daily sums of claims, by triggers. Their table is locked alone: writers lock it before or after that of events."""

    replaces = [("tokens", "0044_claim_sums")]
    dependencies = [("tokens", "0003_fee_sums")]

    operations = [
        load_sql("tokens/fees/claim_sums.sql", "8099d54c3944"),
    ]
