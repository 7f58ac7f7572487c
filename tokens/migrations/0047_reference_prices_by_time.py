from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Reference prices by time, by an index that is built while the table is used."""

    atomic = False
    dependencies = [("tokens", "0046_amounts_of_liquidity_changes")]

    operations = [
        AddIndexConcurrently(
            "referenceprice",
            models.Index(fields=["chain_id", "pool", "at", "block_number"], name="reference_price_by_time"),
        ),
    ]
