import math

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    """Lists by the volume of 24 hours, by two indexes that are built while the table is in use."""

    atomic = False
    dependencies = [("tokens", "0031_unconfirmed_tokens")]

    operations = [
        AddIndexConcurrently(
            "market",
            models.Index(
                Coalesce(F("volume_24h"), Value(-math.inf)).desc(), F("token").desc(), name="market_volume_24h_down"
            ),
        ),
        AddIndexConcurrently(
            "market",
            models.Index(Coalesce(F("volume_24h"), Value(math.inf)).asc(), F("token").asc(), name="market_volume_24h_up"),
        ),
    ]
