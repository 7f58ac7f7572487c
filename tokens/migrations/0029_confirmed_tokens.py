from django.db import migrations, models


class Migration(migrations.Migration):
    """Whether a token's launch is final. Known tokens count as such: their confirmation is no news."""

    dependencies = [("tokens", "0028_provider_refreshes")]

    operations = [
        # A constant default: no row is written.
        migrations.AddField("token", "confirmed", models.BooleanField(default=True, db_default=True)),
        migrations.AlterField("token", "confirmed", models.BooleanField(default=False, db_default=False)),
    ]
