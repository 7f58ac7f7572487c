from datetime import timedelta

from django.conf import settings
from django.db import migrations
from django.utils import timezone

# More than the longest interval, in statements that each take seconds.
_DAYS, _STEP = 31, timedelta(hours=6)


def confirm_stored_reports(apps, schema_editor):
    """Mark stored reports as confirmed where no hub is configured: they counted as such without the mark."""
    if settings.FARCASTER_HUB_URL:
        return
    interactions, now = apps.get_model("leaderboard", "Interaction").objects, timezone.now()
    start = now - timedelta(days=_DAYS)
    # Reports may be a few minutes ahead.
    while start < now + _STEP:
        interactions.filter(at__gte=start, at__lt=start + _STEP, is_confirmed=False).update(is_confirmed=True)
        start += _STEP


class Migration(migrations.Migration):
    """Confirmation that is decided when an interaction is stored, for those of before."""

    dependencies = [("leaderboard", "0008_hub_quotes")]

    operations = [migrations.RunPython(confirm_stored_reports, migrations.RunPython.noop, elidable=True)]
