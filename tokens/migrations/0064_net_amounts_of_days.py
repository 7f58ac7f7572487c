from django.db import migrations, models


class Migration(migrations.Migration):
    """What purchases of a day paid, less what sales got. Stored candles have none; no row is rewritten."""

    dependencies = [("tokens", "0063_graduations_of_declared_curves")]

    operations = [
        migrations.AddField("candle", "net_quote", models.DecimalField(decimal_places=0, max_digits=78, null=True)),
    ]
