from django.db import migrations, models


class Migration(migrations.Migration):
    """Marks of rolling sums that open at a launch's starting price."""

    replaces = [("tokens", "0056_starting_price_flag")]
    dependencies = [("tokens", "0010_index_request_columns")]

    operations = [
        migrations.AddField("rollingsum", "opens_at_starting_price", models.BooleanField(db_default=False)),
    ]
