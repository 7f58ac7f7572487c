from django.db import migrations, models


class Migration(migrations.Migration):
    """Transactions of liquidity changes. No row is rewritten.

    Apart from the columns of trades: a follower that writes both tables would wait for a lock of one of them, and the
    migration for a lock of the other.
    """

    dependencies = [("tokens", "0038_places_of_trades")]

    operations = [
        migrations.AddField("poolliquiditychange", "tx_hash", models.BinaryField(null=True)),
        migrations.AddField("poolliquiditychange", "tx_index", models.IntegerField(null=True)),
        migrations.AddField("poolliquiditychange", "trader", models.BinaryField(null=True)),
    ]
