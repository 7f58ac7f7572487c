from django.db import migrations, models

# Changes of the catalog only, for which a busy table is locked within this time, or not at all.
LIMIT = migrations.RunSQL("SET LOCAL lock_timeout = '5s'", "SET LOCAL lock_timeout = '5s'")


class Migration(migrations.Migration):
    """Whether a token's launch is final. Known tokens count as such: their confirmation is no news."""

    dependencies = [("tokens", "0028_provider_refreshes")]

    operations = [
        LIMIT,
        # A constant default: no row is written.
        migrations.AddField("token", "confirmed", models.BooleanField(default=True, db_default=True)),
        migrations.AlterField("token", "confirmed", models.BooleanField(default=False, db_default=False)),
        LIMIT,
    ]
