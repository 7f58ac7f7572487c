from django.db import migrations, models


# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "tokens_poolliquiditychange" ADD COLUMN "tx_hash" bytea,
    ADD COLUMN "tx_index" integer,
    ADD COLUMN "trader" bytea,
    ADD COLUMN "amount0" numeric(78, 0),
    ADD COLUMN "amount1" numeric(78, 0)
"""
FIELDS = {
    "tx_hash": models.BinaryField(null=True),
    "tx_index": models.IntegerField(null=True),
    "trader": models.BinaryField(null=True),
    "amount0": models.DecimalField(decimal_places=0, max_digits=78, null=True),
    "amount1": models.DecimalField(decimal_places=0, max_digits=78, null=True),
}


class Migration(migrations.Migration):
    """Transactions and amounts of liquidity changes. No row is rewritten.

    Apart from the columns of trades: a follower that writes both tables would wait for a lock of one of them, and the
    migration for a lock of the other.
    """

    replaces = [
        ("tokens", name)
        for name in """
        0039_places_of_liquidity_changes 0046_amounts_of_liquidity_changes
        """.split()
    ]
    dependencies = [("tokens", "0006_trade_columns")]

    operations = [
        migrations.RunSQL(
            ADD, state_operations=[migrations.AddField("poolliquiditychange", name, field) for name, field in FIELDS.items()]
        ),
    ]
