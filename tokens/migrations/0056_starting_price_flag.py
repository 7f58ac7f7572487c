from django.db import migrations, models


class Migration(migrations.Migration):
    """Marks of rolling sums that open at a launch's starting price."""

    dependencies = [("tokens", "0055_stored_searches")]

    operations = [
        migrations.AddField("rollingsum", "opens_at_starting_price", models.BooleanField(db_default=False)),
    ]
