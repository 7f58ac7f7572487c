from django.db import migrations, models

# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "tokens_poolliquiditychange" ADD COLUMN "amount0" numeric(78, 0) NULL,
    ADD COLUMN "amount1" numeric(78, 0) NULL
"""
DROP = 'ALTER TABLE "tokens_poolliquiditychange" DROP COLUMN "amount0", DROP COLUMN "amount1"'


class Migration(migrations.Migration):
    """Amounts of liquidity changes. No row is rewritten; apart from the column of trades, as in 0039."""

    dependencies = [("tokens", "0045_protocol_fees")]

    operations = [
        migrations.RunSQL(
            ADD,
            DROP,
            state_operations=[
                migrations.AddField(
                    "poolliquiditychange", name, models.DecimalField(decimal_places=0, max_digits=78, null=True)
                )
                for name in ("amount0", "amount1")
            ],
        ),
    ]
