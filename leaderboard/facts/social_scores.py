"""Social scores as the provider of profiles tells of them, kept with the time at which it did."""

from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.profiles import social_refresh
from leaderboard.models import Agent

# What was fetched before was noted the last time, unless the tasks stood still for so long.
LOOK_BACK = timedelta(days=2)

# A reading where the score is another than the last time.
_NOTE = """
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


def note_scores() -> int:
    """Want the profiles of all creators, and keep the scores of those that were fetched; how many are new.

    With LEADERBOARD_ACTOR_SCORES every profile's score is kept: pulled interactions want those of who made them.
    """
    creators = Agent.objects.values_list("creator_fid", flat=True).distinct()
    social_refresh.want(fid for fid in creators if fid is not None)
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [timezone.now() - LOOK_BACK, settings.LEADERBOARD_ACTOR_SCORES])
        noted: int = cursor.rowcount
    return noted
