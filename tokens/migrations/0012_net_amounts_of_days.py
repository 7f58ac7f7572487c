from django.db import migrations, models


class Migration(migrations.Migration):
    """What purchases of a day paid, less what sales got. Stored candles have none; no row is rewritten."""

    replaces = [("tokens", "0064_net_amounts_of_days")]
    dependencies = [("tokens", "0011_starting_price_flag")]

    operations = [
        migrations.AddField("candle", "net_quote", models.DecimalField(decimal_places=0, max_digits=78, null=True)),
    ]
