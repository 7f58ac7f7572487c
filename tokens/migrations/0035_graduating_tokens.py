from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """Tokens on a curve by their progress, by an index that is built while the table is in use."""

    atomic = False
    dependencies = [("tokens", "0034_bonding_curves")]

    operations = [
        AddIndexConcurrently(
            "market",
            models.Index(
                F("curve_progress").desc(),
                F("token").desc(),
                name="market_graduating",
                condition=Q(curve_progress__lt=100),
            ),
        ),
    ]
