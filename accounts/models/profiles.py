"""Deployers' social profiles."""

from collections.abc import Iterable
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import connection, models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Collate, NullIf, Upper
from django.utils import timezone

from config.postgresql.case_folding import FoldCase
from config.postgresql.leased_queue import Leased, LeasedQuerySet
from config.site.formats import plain

# PostgreSQL's largest bigint.
MAX_FID = 2**63 - 1
# There may be thousands of FIDs: one array costs far less than as many ORM rows.
_ENQUEUE = """
INSERT INTO accounts_socialprofile (fid, username, display_name, pfp_url, bio, verified_addresses, due_at)
SELECT fid, '', '', '', '', '{}', %s FROM unnest(%s::bigint[]) AS fid
ON CONFLICT DO NOTHING
"""


# A user's name on all pages, for comparison: the user name, or else the display name. An index finds a prefix only with
# the collation "C".
NAME_KEY = Collate(FoldCase(Coalesce(NullIf(F("username"), Value("")), F("display_name"))), "C")


def _no_addresses() -> list[str]:
    return []


class SocialProfileQuerySet(LeasedQuerySet["SocialProfile"]):
    """Profile queries, and enqueueing."""

    def enqueue(self, fids: Iterable[int]) -> None:
        """Enqueue unknown FIDs for fetching; known ones stay unchanged."""
        # Sorted, so that concurrent calls for the same FIDs don't deadlock.
        valid_fids = [fid for fid in sorted(set(fids)) if 0 < fid <= MAX_FID]
        if valid_fids:
            with connection.cursor() as cursor:
                cursor.execute(_ENQUEUE, [timezone.now(), valid_fids])

    def fetched(self) -> Self:
        """Return the profiles that the provider has returned."""
        return self.filter(fetched_at__isnull=False)

    def named(self, username: str) -> Self:
        """Return the fetched profiles with this user name in any case, the newest response first.

        A name may pass to another user, whose profile is fetched before the former one's is again.
        """
        return self.fetched().filter(username__iexact=username).order_by("-fetched_at", "fid")

    def verified_by(self, address: str) -> Self:
        """Return the fetched profiles with this verified address, in stored form, the lowest FID first."""
        profiles = self.fetched().filter(verified_addresses__contains=[address])
        # An expression: for the plain column PostgreSQL may read all FIDs in sequence instead of the addresses' index.
        return profiles.order_by(F("fid") + 0)


class SocialProfile(Leased):
    """A social protocol user as last fetched from the provider, with the next fetch time.

    Unknown text is the empty string. A row is created when its FID is first enqueued, and filled later.
    """

    QUEUE = "profiles"
    # Never fetched ones before those to be refreshed.
    PARTS = (Q(fetched_at__isnull=True), Q(fetched_at__isnull=False))
    ENABLED_BY = ("SOCIAL_API_KEY", "FARCASTER_HUB_URL")

    fid = models.BigIntegerField(primary_key=True)
    username = models.TextField(blank=True)
    display_name = models.TextField(blank=True)
    # http or https.
    pfp_url = models.TextField(blank=True)
    bio = models.TextField(blank=True)
    # EIP-55 first, then base58.
    verified_addresses = ArrayField(models.CharField(max_length=44), default=_no_addresses, blank=True)
    # The provider's trust score from 0 to 1.
    score = models.FloatField(null=True, blank=True)
    # None until the provider has returned a profile.
    fetched_at = models.DateTimeField(null=True, blank=True)
    # Consecutive responses without a profile.
    attempts = models.PositiveIntegerField(default=0, db_default=0, db_column="misses")

    objects = SocialProfileQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(name="social_profile_fid_positive", condition=Q(fid__gt=0)),
            models.CheckConstraint(
                name="social_profile_score_range", condition=Q(score__isnull=True) | Q(score__range=(0, 1))
            ),
        ]
        indexes = [
            # Claims of due rows.
            models.Index(fields=["due_at"], name="social_profile_new_due", condition=Q(fetched_at__isnull=True)),
            models.Index(fields=["due_at"], name="social_profile_known_due", condition=Q(fetched_at__isnull=False)),
            # GET /api/search-creator.
            models.Index(NAME_KEY, F("fid"), name="social_profile_by_folded_name"),
            # GET /api/get-user-by-name, and the admin site's search; GET /api/get-user-by-address.
            models.Index(Upper("username"), name="social_profile_by_username"),
            # Without a pending list, which each lookup would read.
            GinIndex(fields=["verified_addresses"], name="social_profile_by_address", fastupdate=False),
        ]

    def __str__(self) -> str:
        return f"{plain(self.username) or '(no name)'}, FID {self.fid}"
