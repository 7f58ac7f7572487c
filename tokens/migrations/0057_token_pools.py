import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Pools of tokens with several."""

    dependencies = [("tokens", "0056_starting_price_flag")]

    operations = [
        migrations.CreateModel(
            name="TokenPool",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "pool_address", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("pool_address", models.CharField(max_length=66)),
                ("is_currency0", models.BooleanField(null=True)),
                ("hook", models.CharField(blank=True, db_default="", default="", max_length=44)),
                (
                    "token",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pools",
                        to="tokens.token",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["pool_address"], name="token_pool_by_address")]},
        ),
    ]
