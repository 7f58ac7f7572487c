from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """An index of launches that are not final, built while tokens are read and written."""

    atomic = False

    dependencies = [("tokens", "0030_events")]

    operations = [
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["chain_id", "block_number"],
                name="token_unconfirmed",
                condition=Q(confirmed=False, unindexed=False),
            ),
        ),
    ]
