"""Social scores from fetched profiles, stored as facts with the fetch time."""

from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import SocialProfile
from leaderboard.models import Agent

# Older fetches were recorded by an earlier run, unless workers were down for this long.
LOOKBACK = timedelta(days=2)

# One row per change of a score.
_INSERT_CHANGED_SCORES = """
INSERT INTO leaderboard_socialscore (fid, at, score)
SELECT profile.fid, profile.fetched_at, profile.score
FROM accounts_socialprofile profile
WHERE profile.fetched_at > %s AND profile.score IS NOT NULL
    AND (%s OR EXISTS (SELECT FROM leaderboard_agent agent WHERE agent.creator_fid = profile.fid))
    AND profile.score IS DISTINCT FROM (
        SELECT known.score FROM leaderboard_socialscore known
        WHERE known.fid = profile.fid ORDER BY known.at DESC LIMIT 1
    )
ON CONFLICT DO NOTHING
"""


def record_social_scores() -> int:
    """Request all creators' profiles, store new scores from fetched profiles, and return how many were new.

    With LEADERBOARD_ACTOR_SCORES every profile's score is stored; pulled interactions request their actors' profiles.
    """
    creators = Agent.objects.values_list("creator_fid", flat=True).distinct()
    SocialProfile.objects.enqueue(fid for fid in creators if fid is not None)
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_CHANGED_SCORES, [timezone.now() - LOOKBACK, settings.LEADERBOARD_ACTOR_SCORES])
        recorded: int = cursor.rowcount
    return recorded
