"""Rankings: immutable snapshots for an interval, which become current once complete."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from leaderboard.models.agents import MAX_AGENT_ID, MAX_NAME, Agent

# Key for the audience's own figures in `Standing.evidence`, beside the discount flags.
AUDIENCE_EVIDENCE = "AUDIENCE"


class Interval(models.TextChoices):
    """Period that a ranking covers, up to its time."""

    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"

    @property
    def length(self) -> timedelta:
        """Length of the period."""
        return _LENGTHS[self]

    @property
    def judged_length(self) -> timedelta:
        """Length of the period that gives accounts their weight: in a day, most accounts meet only one agent."""
        return max(self.length, _LENGTHS[Interval.WEEK])


_LENGTHS = {
    Interval.DAY: timedelta(days=1),
    Interval.WEEK: timedelta(days=7),
    Interval.MONTH: timedelta(days=30),
}


class Snapshot(models.Model):
    """Ranking for an interval. Pagination starts with the current ranking and stays on it after its replacement."""

    interval = models.CharField(max_length=3, choices=Interval)
    # The interval's end; later facts do not count.
    computed_at = models.DateTimeField()
    scoring_version = models.PositiveIntegerField()
    # Seconds for loading, scoring and writing.
    took_seconds = models.FloatField()
    # Number of ranked standings.
    ranked = models.PositiveIntegerField()
    # Audience component from which a standing is in the hundredth of ranked standings with the largest audiences. Null
    # with fewer than a hundred ranked standings, and for rankings that are older than this column.
    large_audience = models.FloatField(null=True)
    is_current = models.BooleanField(default=False)
    # Time at which another ranking replaced it; null for the current ranking.
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # The index finds the current ranking.
            models.UniqueConstraint(name="snapshot_one_current", fields=["interval"], condition=Q(is_current=True)),
            models.CheckConstraint(name="snapshot_interval_known", condition=Q(interval__in=Interval.values)),
            models.CheckConstraint(
                name="snapshot_replaced_or_current",
                condition=Q(is_current=True, replaced_at__isnull=True) | Q(is_current=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.interval} at {self.computed_at:%Y-%m-%d %H:%M}"


class Standing(models.Model):
    """An agent in a snapshot: the API row as of that time, and the score with its evidence."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="standings", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="standings", db_index=False)
    # From 1; null for agents that are scored but not ranked: without an indexed token, or hidden.
    rank = models.PositiveIntegerField(null=True)
    agent_name = models.CharField(max_length=MAX_NAME, blank=True)
    public_id = models.CharField(max_length=MAX_AGENT_ID)
    fid = models.BigIntegerField(null=True)
    token_chain_id = models.BigIntegerField(null=True)
    token_address = models.CharField(max_length=44, blank=True)
    token_name = models.TextField(blank=True)
    token_symbol = models.TextField(blank=True)
    runs_succeeded = models.PositiveIntegerField()
    runs_failed = models.PositiveIntegerField()
    posts = models.PositiveIntegerField()
    replies = models.PositiveIntegerField()
    quotes = models.PositiveIntegerField()
    interactions = models.PositiveIntegerField()
    creator_fid = models.BigIntegerField(null=True)
    creator_score = models.FloatField(null=True)
    # Within the interval.
    last_active_at = models.DateTimeField(null=True)
    # From 0 to 100.
    composite = models.FloatField()
    # Name -> 0 to 1.
    components = models.JSONField()
    # Audience share that does not count, from 0 to 1.
    wash_confidence = models.FloatField()
    wash_flags = ArrayField(models.CharField(max_length=32))
    # AUDIENCE_EVIDENCE -> the audience's figures; flag -> the discount's meaning, figures and heaviest accounts
    # (docs/leaderboard.md).
    evidence = models.JSONField()

    class Meta:
        constraints = [
            # The index serves the pages.
            models.UniqueConstraint(name="standing_rank_once", fields=["snapshot", "rank"]),
            # The index serves the history on an agent's page.
            models.UniqueConstraint(name="standing_agent_once", fields=["agent", "snapshot"]),
            models.CheckConstraint(name="standing_rank_from_one", condition=Q(rank__isnull=True) | Q(rank__gt=0)),
            models.CheckConstraint(name="standing_composite_in_range", condition=Q(composite__range=(0, 100))),
            models.CheckConstraint(name="standing_wash_in_range", condition=Q(wash_confidence__range=(0, 1))),
        ]

    def __str__(self) -> str:
        return f"{self.public_id}, rank {self.rank}"
