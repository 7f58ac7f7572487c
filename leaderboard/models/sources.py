"""Fact sources, and the progress of reading them."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.postgresql.leased_queue import Leased, LeasedQuerySet
from leaderboard.models.agents import Agent
from leaderboard.models.facts import Action


class EventImport(models.Model):
    """Event file import with its progress; an interrupted import resumes from here."""

    # SHA-256 by `import_digest`, in lower-case hex: it depends on the source and the content, not on the file's name.
    digest = models.CharField(max_length=64)
    name = models.TextField()
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    # After decompression.
    bytes_read = models.BigIntegerField(default=0)
    lines_read = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)
    known = models.BigIntegerField(default=0)
    skipped = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(name="event_import_once", fields=["digest"])]

    def __str__(self) -> str:
        return self.name


class HubCursor(Leased):
    """Progress of pulling an agent's casts from a hub, and the next pull's time."""

    QUEUE = "hub_casts"
    ENABLED_BY = ("FARCASTER_HUB_URL",)

    agent = models.OneToOneField(Agent, on_delete=models.CASCADE, primary_key=True, related_name="hub_cursor")
    # The agent's FID at the last pull; another FID restarts the cursor.
    fid = models.BigIntegerField()
    # Protocol time of the newest stored cast: seconds since 2021-01-01.
    casts_until = models.BigIntegerField(default=0)
    # Consecutive failed pulls, and the last error.
    attempts = models.PositiveIntegerField(default=0, db_default=0, db_column="failures")
    last_error = models.TextField(blank=True, default="", db_default="", db_column="trouble")

    objects = LeasedQuerySet["HubCursor"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="hub_cursor_due")]
        constraints = [models.CheckConstraint(name="hub_cursor_since", condition=Q(casts_until__gte=0))]

    def __str__(self) -> str:
        return f"hub cursor of agent {self.agent_id}"


class HubQuote(Leased):
    """Quote of an agent's cast that a partner key reported, to look up on the hub.

    A hub has no list of a cast's quotes.
    """

    QUEUE = "hub_quotes"
    ENABLED_BY = ("FARCASTER_HUB_URL",)

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="hub_quotes", db_index=False)
    # The quote's author, hash and reported time. The hash is 0x and 40 lower-case hex digits.
    fid = models.BigIntegerField()
    message_hash = models.CharField(max_length=42)
    at = models.DateTimeField()

    objects = LeasedQuerySet["HubQuote"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(name="hub_quote_once", fields=["agent", "message_hash"])]
        indexes = [models.Index(fields=["due_at"], name="hub_quote_due")]

    def __str__(self) -> str:
        return f"hub quote {self.message_hash}"


class HubCast(Leased):
    """An agent's cast whose interactions are polled, at growing intervals until the cast is old."""

    QUEUE = "hub_interactions"
    ENABLED_BY = ("FARCASTER_HUB_URL",)

    action = models.OneToOneField(Action, on_delete=models.CASCADE, primary_key=True, related_name="hub_cast")
    # The cast's author.
    fid = models.BigIntegerField()
    # Protocol time of the newest stored reaction or reply.
    read_until = models.BigIntegerField(default=0)
    # Consecutive failed pulls.
    attempts = models.PositiveIntegerField(default=0, db_default=0, db_column="failures")

    objects = LeasedQuerySet["HubCast"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="hub_cast_due")]
        constraints = [models.CheckConstraint(name="hub_cast_since", condition=Q(read_until__gte=0))]

    def __str__(self) -> str:
        return f"hub cast {self.action_id}"
