from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """Trending tokens by an index, built while the table is in use."""

    atomic = False
    dependencies = [("tokens", "0024_trades")]

    operations = [
        AddIndexConcurrently(
            "market",
            models.Index(
                F("trending").desc(), F("token").desc(), name="market_trending", condition=Q(trending__isnull=False)
            ),
        ),
    ]
