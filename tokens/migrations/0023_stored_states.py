import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """States of tokens, as read from their contracts when their launches were indexed by hash."""

    dependencies = [("tokens", "0022_deployment_spending")]

    operations = [
        migrations.CreateModel(
            name="StoredState",
            fields=[
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="state",
                        serialize=False,
                        to="tokens.token",
                    ),
                ),
                ("chain_id", models.BigIntegerField()),
                ("block_number", models.BigIntegerField()),
                ("block_hash", models.CharField(max_length=66)),
                ("facts", models.JSONField()),
            ],
            options={"indexes": [models.Index(fields=["chain_id", "block_number"], name="stored_state_by_block")]},
        ),
    ]
