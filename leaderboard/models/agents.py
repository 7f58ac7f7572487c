"""Automated agents, called droids in the API."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import PartnerKey

MAX_AGENT_ID = 100
MAX_NAME = 200

# Column that descriptions change -> column with the time of its last change.
DESCRIPTION_TIME_COLUMNS = {
    "name": "name_told_at",
    "fid": "fid_told_at",
    "token_chain_id": "token_told_at",
    "token_address": "token_told_at",
    "creator_fid": "creator_told_at",
}


class Agent(models.Model):
    """Agent as described by an operator or by its partner.

    An unknown FID (an account number in the social protocol) is null, unknown text and addresses are empty. An agent
    without a token is scored but not ranked.
    """

    agent_id = models.CharField(max_length=MAX_AGENT_ID, help_text="What the partner calls it; it never changes.")
    name = models.CharField(max_length=MAX_NAME, blank=True)
    fid = models.BigIntegerField(null=True, blank=True, help_text="Its number in the social protocol.")
    # FID that the agent proved, or that an operator accepted. Another FID needs another proof.
    proven_fid = models.BigIntegerField(null=True, blank=True, editable=False)
    # Rankings join the token by chain and address: it may be indexed later than the agent.
    token_chain_id = models.BigIntegerField(null=True, blank=True)
    # EIP-55, or a mint.
    token_address = models.CharField(max_length=44, blank=True)
    creator_fid = models.BigIntegerField(null=True, blank=True, help_text="Who made it.")
    partner_key = models.ForeignKey(
        PartnerKey,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="agents",
        help_text="Who describes it and reports about it. Without one no key may, but operators' files and the hub.",
    )
    is_hidden = models.BooleanField(
        default=False,
        help_text="Shows it in no ranking any more, those that are there included. Events about it are still taken.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Time of the newest event that described the agent.
    described_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Each description part's last change, by an event or in the admin. Older events do not change that part, whenever
    # they arrive.
    name_told_at = models.DateTimeField(null=True, blank=True, editable=False)
    fid_told_at = models.DateTimeField(null=True, blank=True, editable=False)
    token_told_at = models.DateTimeField(null=True, blank=True, editable=False)
    creator_told_at = models.DateTimeField(null=True, blank=True, editable=False)
    wallets_told_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            # The index serves each event.
            models.UniqueConstraint(name="agent_id_unique", fields=["agent_id"]),
            models.UniqueConstraint(
                name="agent_fid_unique",
                fields=["fid"],
                violation_error_message="Another agent has this FID already: take it from that one first.",
            ),
            # One token ranks one agent. The address comes first: the index also finds the owners of a batch's tokens.
            models.UniqueConstraint(
                name="agent_token_unique",
                fields=["token_address", "token_chain_id"],
                violation_error_message="Another agent has this token already: take it from that one first.",
            ),
            models.CheckConstraint(name="agent_id_not_blank", condition=Q(agent_id__regex=r"\S")),
            models.CheckConstraint(
                name="agent_fids_positive",
                condition=(Q(fid__isnull=True) | Q(fid__gt=0)) & (Q(creator_fid__isnull=True) | Q(creator_fid__gt=0)),
            ),
            models.CheckConstraint(
                name="agent_token_whole",
                condition=Q(token_chain_id__isnull=True, token_address="")
                | (Q(token_chain_id__isnull=False) & ~Q(token_address="")),
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.agent_id

    def has_proven(self, fid: int | None) -> bool:
        """Return whether the FID is proven to be the agent's; operators' agents need no proof."""
        return fid is not None and (self.partner_key_id is None or self.proven_fid == fid)

    def is_owned_by(self, fid: int | None) -> bool:
        """Return whether this account owns the agent: it is the described creator, or the agent's own proven FID."""
        return fid is not None and (fid == self.creator_fid or (fid == self.fid and self.has_proven(fid)))


class AgentWallet(models.Model):
    """Address that trades for the agent: the agent's own or its creator's."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="wallets", db_index=False)
    # EIP-55, or base58.
    address = models.CharField(max_length=44)

    class Meta:
        constraints = [
            # The index serves an agent's wallet list.
            models.UniqueConstraint(name="agent_wallet_once", fields=["agent", "address"]),
            models.CheckConstraint(name="agent_wallet_not_empty", condition=~Q(address="")),
        ]

    def __str__(self) -> str:
        return self.address
