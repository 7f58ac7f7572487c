"""Where facts come from, and how far they have been read."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.agents import Agent
from leaderboard.models.facts import Action


class EventImport(models.Model):
    """A file of events, and how far it has been taken in: an import that was broken off goes on from there."""

    # SHA-256, in lower-case hex, of whose event ids they are and of the file: under another name it is the same import.
    digest = models.CharField(max_length=64)
    name = models.TextField()
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    # Of the text, after decompression.
    bytes_read = models.BigIntegerField(default=0)
    lines_read = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)
    known = models.BigIntegerField(default=0)
    skipped = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(name="event_import_once", fields=["digest"])]

    def __str__(self) -> str:
        return self.name


class HubCursor(models.Model):
    """How far an agent's casts have been pulled from a hub, and when they are next."""

    agent = models.OneToOneField(Agent, on_delete=models.CASCADE, primary_key=True, related_name="hub_cursor")
    # Whose casts these are: the agent's FID when they were pulled last; with another one all begins anew.
    fid = models.BigIntegerField()
    # The time of the newest cast that was taken in, as the protocol counts: seconds since 2021-01-01.
    casts_until = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    # Calls in a row without a usable answer, and what was wrong with the last one; none and empty while all is well.
    failures = models.PositiveIntegerField(default=0)
    trouble = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="hub_cursor_due")]
        constraints = [models.CheckConstraint(name="hub_cursor_since", condition=Q(casts_until__gte=0))]

    def __str__(self) -> str:
        return f"hub cursor of agent {self.agent_id}"


class HubCast(models.Model):
    """An agent's cast whose reactions and replies are still pulled from a hub: ever more seldom, until it is old."""

    action = models.OneToOneField(Action, on_delete=models.CASCADE, primary_key=True, related_name="hub_cast")
    # Who cast it.
    fid = models.BigIntegerField()
    # The time of the newest reaction or reply that was taken in, as the protocol counts.
    read_until = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="hub_cast_due")]
        constraints = [models.CheckConstraint(name="hub_cast_since", condition=Q(read_until__gte=0))]

    def __str__(self) -> str:
        return f"hub cast {self.action_id}"
