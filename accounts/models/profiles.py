"""Social profiles: who deploys."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


def _no_addresses() -> list[str]:
    return []


class SocialProfile(models.Model):
    """A person of the social protocol, as the provider last told of him, and when it is asked again.

    Unknown text is the empty string. A row is made when somebody is wanted for the first time, and filled later.
    """

    fid = models.BigIntegerField(primary_key=True)
    username = models.TextField(blank=True)
    display_name = models.TextField(blank=True)
    # http or https.
    pfp_url = models.TextField(blank=True)
    bio = models.TextField(blank=True)
    # EIP-55 first, then base58.
    verified_addresses = ArrayField(models.CharField(max_length=44), default=_no_addresses, blank=True)
    # The provider's trust from 0 to 1.
    score = models.FloatField(null=True, blank=True)
    # None as long as the provider knew nobody.
    fetched_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField()
    # Answers in a row in which the provider did not know the person.
    misses = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(name="social_profile_fid_positive", condition=Q(fid__gt=0)),
            models.CheckConstraint(
                name="social_profile_score_range", condition=Q(score__isnull=True) | Q(score__range=(0, 1))
            ),
        ]
        indexes = [
            # Claiming who is due: those who never were fetched before those who are to be refreshed.
            models.Index(fields=["due_at"], name="social_profile_new_due", condition=Q(fetched_at__isnull=True)),
            models.Index(fields=["due_at"], name="social_profile_known_due", condition=Q(fetched_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.username or '(no name)'}, FID {self.fid}"
