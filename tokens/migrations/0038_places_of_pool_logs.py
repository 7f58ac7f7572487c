from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes of transactions and fees of trades, and transactions of liquidity changes. No row is rewritten."""

    dependencies = [("tokens", "0037_trusted_tokens")]

    operations = [
        migrations.AddField("pooltrade", "tx_index", models.IntegerField(null=True)),
        migrations.AddField("pooltrade", "fee", models.IntegerField(null=True)),
        migrations.AddField("poolliquiditychange", "tx_hash", models.BinaryField(null=True)),
        migrations.AddField("poolliquiditychange", "tx_index", models.IntegerField(null=True)),
        migrations.AddField("poolliquiditychange", "trader", models.BinaryField(null=True)),
    ]
