from django.db import migrations, models


class Migration(migrations.Migration):
    """The first block of a coverage row that only one provider returned."""

    replaces = [("tokens", "0048_repeated_blocks")]
    dependencies = [("tokens", "0007_liquidity_change_columns")]

    operations = [
        migrations.AddField("coverage", "repeated_from", models.BigIntegerField(blank=True, null=True)),
    ]
