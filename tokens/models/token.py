"""What was launched."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from tokens.chains.registry.entry_rules import LONGEST_GENERATION_NAME
from tokens.indexing.launch_warnings import POSSIBLE_COPY
from tokens.models.querysets import INTERFACE, TokenQuerySet

# EIP-55 addresses have 42 characters, base58 mints up to 44.
ADDRESS_LENGTH = 44

# What public lists show.
_LISTED = Q(blocked=False, unindexed=False)
_TOLD = ("blocked", "unindexed")


def _no_list() -> list[str]:
    return []


class Token(models.Model):
    """A launched token as the chain tells it, with the operators' tags.

    Unknown text is the empty string and becomes null in answers. Addresses are stored as they are shown: EIP-55, or
    base58 as given; 32-byte pool ids in lower case.
    """

    chain_id = models.BigIntegerField()
    contract_address = models.CharField(max_length=ADDRESS_LENGTH)
    # The registry's name of the generation; its label is the API's `type`.
    generation = models.CharField(max_length=LONGEST_GENERATION_NAME)
    # True while no block that we know of holds the launch: a reorg has dropped it.
    unindexed = models.BooleanField(default=False)

    tx_hash = models.CharField(max_length=100)
    log_index = models.IntegerField()
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)

    created_at = models.DateTimeField(auto_now_add=True)
    last_indexed = models.DateTimeField()
    deployed_at = models.DateTimeField()

    name = models.TextField(blank=True)
    symbol = models.TextField(blank=True)
    description = models.TextField(blank=True)
    img_url = models.TextField(blank=True)
    # Wei; wider than any integer column.
    # ERC-20s of all factories have 18, mints of Solana their own number.
    decimals = models.SmallIntegerField(default=18, db_default=18)
    supply = models.DecimalField(max_digits=78, decimal_places=0, null=True, blank=True)

    admin = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    msg_sender = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    requestor_fid = models.BigIntegerField(null=True, blank=True)
    requestor_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    cast_hash = models.TextField(blank=True)

    pool_address = models.CharField(max_length=66, blank=True)
    paired_token = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    pair = models.TextField(blank=True)
    factory_address = models.CharField(max_length=ADDRESS_LENGTH)
    locker_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    # 256-bit numbers, kept as decimal digits.
    position_id = models.CharField(max_length=78, blank=True)
    presale_id = models.CharField(max_length=78, blank=True)

    metadata = models.JSONField()
    social_context = models.JSONField()
    deploy_config = models.JSONField()
    pool_config = models.JSONField()
    extensions = models.JSONField()
    starting_market_cap = models.FloatField(null=True, blank=True)
    # What the launch itself warns of; POSSIBLE_COPY depends on other tokens and is found when read.
    launch_warnings = ArrayField(models.CharField(max_length=32), default=_no_list, blank=True)
    # Digest of name and symbol in the form in which copies are told.
    copy_key = models.CharField(max_length=64)

    # The token's original admin called its verify().
    verified_on_chain = models.BooleanField(default=False, db_default=False)

    # The operators' tags, which nothing on the chain changes.
    champagne = models.BooleanField(default=False)
    verified = models.BooleanField(default=False)
    known_interface_deployer = models.BooleanField(default=False)
    blocked = models.BooleanField(default=False)

    # Whether an older verified or champagne token looks the same: there on tokens from `with_copies()`.
    possible_copy: bool

    objects = TokenQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "contract_address"], name="token_once_per_chain"),
            models.CheckConstraint(condition=Q(supply__isnull=True) | Q(supply__gte=0), name="token_supply_positive"),
        ]
        indexes = [
            # GET /api/tokens: newest first, of all chains or one; the counts read these indexes alone.
            models.Index(fields=["-deployed_at", "-id"], name="token_listed_newest", condition=_LISTED),
            models.Index(fields=["chain_id", "-deployed_at", "-id"], name="token_by_chain_newest", condition=_LISTED),
            # Its narrower filters, and how many tokens a deployer has.
            # With what tells whether a token is listed, so that a search among these reads nothing else of them.
            models.Index(fields=["msg_sender", "-deployed_at", "-id"], name="token_by_sender_newest", include=_TOLD),
            models.Index(fields=["requestor_fid", "-deployed_at", "-id"], name="token_by_fid_newest", include=_TOLD),
            models.Index(
                fields=["requestor_address", "-deployed_at", "-id"],
                name="token_by_requestor_newest",
                condition=~Q(requestor_address=""),
            ),
            models.Index(
                Lower("pair"), F("deployed_at").desc(), F("id").desc(), name="token_by_pair", condition=_LISTED
            ),
            models.Index(
                fields=["paired_token", "-deployed_at", "-id"], name="token_by_paired_token", condition=_LISTED
            ),
            models.Index(
                INTERFACE,
                F("deployed_at").desc(),
                F("id").desc(),
                name="token_by_interface",
                condition=_LISTED,
            ),
            models.Index(fields=["-deployed_at", "-id"], name="token_champagne_newest", condition=Q(champagne=True)),
            # GET /api/tokens/fetch-by-pool-address and its plural.
            models.Index(fields=["pool_address"], name="token_by_pool", condition=~Q(pool_address="")),
            # GET /api/get-token-by-address without a chain.
            models.Index(fields=["contract_address"], name="token_by_address"),
            # GET /api/tokens/fetch-by-admin.
            models.Index(
                fields=["admin", "-deployed_at", "-id"],
                name="token_by_admin_newest",
                condition=~Q(admin=""),
                include=_TOLD,
            ),
            # Whose fees a locker paid out that names no token: those of v0 and v1 have one each.
            models.Index(fields=["locker_address"], name="token_by_locker", condition=~Q(position_id="")),
            # Unwinding one transaction, and a search for its hash.
            models.Index(fields=["tx_hash"], name="token_by_transaction"),
            # What a block held: unwinding it, and checking it again.
            models.Index(fields=["chain_id", "block_number"], name="token_by_block"),
            # The warning POSSIBLE_COPY: older tokens that are worth copying.
            models.Index(
                fields=["copy_key", "deployed_at"],
                name="token_copied",
                condition=Q(verified=True) | Q(champagne=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.symbol or '(no symbol)'} {self.contract_address} on {self.chain_id}"

    @property
    def warnings(self) -> list[str]:
        """The launch's own, and whether it looks like a copy. Only on tokens from `with_copies()`."""
        return self.launch_warnings + ([POSSIBLE_COPY] if self.possible_copy else [])
