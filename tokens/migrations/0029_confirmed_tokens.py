from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Whether a token's launch is final. Known tokens count as such: their confirmation is no news."""

    # The index is built while tokens are read and written.
    atomic = False

    dependencies = [("tokens", "0028_provider_refreshes")]

    operations = [
        # A constant default: no row is written.
        migrations.AddField("token", "confirmed", models.BooleanField(default=True, db_default=True)),
        migrations.AlterField("token", "confirmed", models.BooleanField(default=False, db_default=False)),
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["chain_id", "block_number"],
                name="token_unconfirmed",
                condition=Q(confirmed=False, unindexed=False),
            ),
        ),
    ]
