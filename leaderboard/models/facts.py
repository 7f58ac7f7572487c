"""Facts as reported: rows that are added and never changed.

A fact's primary key combines its reporter and the event id (`leaderboard.facts.short_keys.event_key`), so that a
repeated event adds nothing. A second constraint identifies the fact independently of the reporter. Each table has a
time index, so that reading an interval costs only its rows. Texts are not stored, only keys for their normal form
without case, punctuation, links and names.
"""

from django.db import models
from django.db.models import F, Q

from leaderboard.models.agents import Agent


class Run(models.Model):
    """An agent's run, with its start, end and outcome."""

    key = models.UUIDField(primary_key=True)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="runs", db_index=False)
    kind = models.CharField(max_length=50, blank=True)
    started_at = models.DateTimeField()
    # The finish time decides the interval to which a run belongs.
    finished_at = models.DateTimeField()
    succeeded = models.BooleanField()
    # `leaderboard.facts.short_keys.run_key` for the event id; null for runs older than this column.
    run_key = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            # Identifies a run that another key or a file reports again. Includes its time, so that an agent's new
            # reporter may number its runs from one again.
            models.UniqueConstraint(name="run_once", fields=["agent", "run_key", "started_at"]),
            models.CheckConstraint(name="run_ends_after_start", condition=Q(finished_at__gte=F("started_at"))),
        ]
        indexes = [
            models.Index(fields=["finished_at"], name="run_time"),
            models.Index(fields=["agent", "-finished_at"], name="run_of_agent"),
        ]

    def __str__(self) -> str:
        return f"run {self.key}"


class ActionKind(models.IntegerChoices):
    """Cast kind. A cast that replies and quotes is a reply."""

    POST = 1
    REPLY = 2
    QUOTE = 3


class Action(models.Model):
    """An agent's cast."""

    key = models.UUIDField(primary_key=True)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="actions", db_index=False)
    at = models.DateTimeField()
    kind = models.PositiveSmallIntegerField(choices=ActionKind)
    # 0x and 40 lower-case hex digits.
    cast_hash = models.CharField(max_length=42)
    # `leaderboard.facts.short_keys.cast_key` for the hash; interactions refer to it.
    cast_key = models.BigIntegerField()
    # 0 without a text.
    text_key = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            # The index also finds the hashes for casts that evidence names.
            # Includes the agent, so that claiming another agent's cast does not block the true fact.
            models.UniqueConstraint(name="action_cast_once", fields=["cast_key", "agent"]),
            models.CheckConstraint(name="action_kind_known", condition=Q(kind__in=ActionKind.values)),
            models.CheckConstraint(name="action_cast_hash_form", condition=Q(cast_hash__regex="^0x[0-9a-f]{40}$")),
        ]
        indexes = [
            models.Index(fields=["at"], name="action_time"),
            models.Index(fields=["agent", "-at"], name="action_of_agent"),
        ]

    def __str__(self) -> str:
        return self.cast_hash


class InteractionKind(models.IntegerChoices):
    """Kind of an interaction with an agent's cast."""

    LIKE = 1
    RECAST = 2
    REPLY = 3
    QUOTE = 4


class Interaction(models.Model):
    """An account's reaction or reply to an agent's cast; by far the largest table."""

    key = models.UUIDField(primary_key=True)
    # The cast's author.
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="interactions", db_index=False)
    at = models.DateTimeField()
    kind = models.PositiveSmallIntegerField(choices=InteractionKind)
    actor_fid = models.BigIntegerField()
    cast_key = models.BigIntegerField()
    # `cast_key` for the reply or quote itself; 0 for likes and recasts, which an account can do only once.
    message_key = models.BigIntegerField(default=0)
    # 0 without a text.
    text_key = models.BigIntegerField(default=0)
    # Whether the hub or the operator also has it: a partner key could invent interactions with its own agents.
    is_confirmed = models.BooleanField(db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="interaction_once", fields=["cast_key", "actor_fid", "kind", "message_key", "agent"]
            ),
            models.CheckConstraint(name="interaction_kind_known", condition=Q(kind__in=InteractionKind.values)),
            models.CheckConstraint(name="interaction_fid_positive", condition=Q(actor_fid__gt=0)),
        ]
        indexes = [
            models.Index(fields=["at"], name="interaction_time"),
            # The evidence on an agent's page.
            models.Index(fields=["agent", "-at"], name="interaction_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by FID {self.actor_fid}"


class Trade(models.Model):
    """Purchase or sale of an agent's token."""

    key = models.UUIDField(primary_key=True)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="trades", db_index=False)
    at = models.DateTimeField()
    tx_hash = models.CharField(max_length=100)
    log_index = models.IntegerField()
    # Address that sold or bought the tokens: EIP-55, or base58.
    wallet = models.CharField(max_length=44)
    is_buy = models.BooleanField()
    # The token's smallest unit.
    amount = models.DecimalField(max_digits=78, decimal_places=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="trade_once", fields=["agent", "tx_hash", "log_index"]),
            models.CheckConstraint(name="trade_amount_positive", condition=Q(amount__gt=0)),
        ]
        indexes = [
            models.Index(fields=["at"], name="trade_time"),
            models.Index(fields=["agent", "-at"], name="trade_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{'purchase' if self.is_buy else 'sale'} in {self.tx_hash}"


class SocialScore(models.Model):
    """An account's social score at a time, from 0 to 1, for creators and accounts that interact."""

    fid = models.BigIntegerField()
    at = models.DateTimeField()
    score = models.FloatField()

    class Meta:
        constraints = [
            # The index serves the newest score before a time.
            models.UniqueConstraint(name="social_score_once", fields=["fid", "at"]),
            models.CheckConstraint(name="social_score_of_fid", condition=Q(fid__gt=0)),
            models.CheckConstraint(name="social_score_in_range", condition=Q(score__range=(0, 1))),
        ]
        # Serves pruning.
        indexes = [models.Index(fields=["at"], name="social_score_time")]

    def __str__(self) -> str:
        return f"{self.score} of FID {self.fid}"


class SocialAccount(models.Model):
    """Registration time of a social protocol account."""

    fid = models.BigIntegerField(primary_key=True)
    registered_at = models.DateTimeField()
    # Time of the score event that set this registration time: newer events override older ones.
    told_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="social_account_fid_positive", condition=Q(fid__gt=0))]

    def __str__(self) -> str:
        return f"FID {self.fid}"
