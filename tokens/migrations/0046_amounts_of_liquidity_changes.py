from django.db import migrations, models


class Migration(migrations.Migration):
    """Amounts of liquidity changes. No row is rewritten; apart from the column of trades, as in 0039."""

    dependencies = [("tokens", "0045_protocol_fees")]

    operations = [
        migrations.AddField(
            "poolliquiditychange", "amount0", models.DecimalField(decimal_places=0, max_digits=78, null=True)
        ),
        migrations.AddField(
            "poolliquiditychange", "amount1", models.DecimalField(decimal_places=0, max_digits=78, null=True)
        ),
    ]
