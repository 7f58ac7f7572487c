from django.db import migrations, models


class Migration(migrations.Migration):
    """The first block of a coverage row that only one provider returned."""

    dependencies = [("tokens", "0047_reference_prices_by_time")]

    operations = [
        migrations.AddField("Coverage", "repeated_from", models.BigIntegerField(blank=True, null=True)),
    ]
