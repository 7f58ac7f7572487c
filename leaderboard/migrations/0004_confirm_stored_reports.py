from datetime import timedelta

from django.conf import settings
from django.db import migrations
from django.utils import timezone

from config.postgresql.batches import RunBatches

# More than the longest interval, in batches that each take less than a second.
_DAYS, _STEP = 31, timedelta(minutes=30)
_CONFIRM = """
UPDATE leaderboard_interaction SET is_confirmed = true
WHERE at >= %(first)s AND at < %(end)s AND NOT is_confirmed
"""


def confirm_stored_reports(connection):
    """Mark stored reports as confirmed where no hub is configured: they counted as such without the mark."""
    if settings.FARCASTER_HUB_URL:
        return
    now = timezone.now()
    start = now - timedelta(days=_DAYS)
    # Reports may be a few minutes ahead.
    while start < now + _STEP:
        yield _CONFIRM, {"first": start, "end": start + _STEP}
        start += _STEP


class Migration(migrations.Migration):
    """Confirmation that is decided when an interaction is stored, for those of before."""

    atomic = False
    replaces = [("leaderboard", "0009_confirm_stored_reports")]
    dependencies = [("leaderboard", "0003_hub_quotes")]

    operations = [RunBatches(confirm_stored_reports)]
