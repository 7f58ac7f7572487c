from django.db import migrations, models


class Migration(migrations.Migration):
    """How far a coverage row's trades count in rolling sums. Existing rows have none: they lack the pools' contracts."""

    dependencies = [("tokens", "0025_trending_markets")]

    operations = [
        migrations.AddField(
            model_name="coverage",
            name="summed_to",
            field=models.BigIntegerField(db_default=-1, default=-1),
        ),
    ]
