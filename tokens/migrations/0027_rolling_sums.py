import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):
    """The trending score of rolling sums, and minute candles by time."""

    dependencies = [("tokens", "0026_coverage_of_trades")]

    operations = [
        migrations.AddField("rollingsum", "trending", models.FloatField(null=True)),
        migrations.AddIndex(
            model_name="minutecandle",
            index=django.contrib.postgres.indexes.BrinIndex(
                django.contrib.postgres.indexes.OpClass(models.F("at"), name="timestamptz_minmax_multi_ops"),
                autosummarize=True,
                pages_per_range=32,
                name="minute_candle_by_time",
            ),
        ),
    ]
