"""What was launched, and which transactions were asked about."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now

from tokens.chains.registry_rules import LONGEST_GENERATION_NAME
from tokens.launch_warnings import POSSIBLE_COPY
from tokens.market_schedule import Priority
from tokens.querysets import INTERFACE, IndexRequestQuerySet, MarketQuerySet, SearchEntryQuerySet, TokenQuerySet
from tokens.search import ShortGrams
from tokens.sorting import MARKET_SORTS

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
    # True while no block that we know of holds the launch: dropped by a reorg, or claimed and not yet seen.
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
            # Unwinding one transaction, and a search for its hash.
            models.Index(fields=["tx_hash"], name="token_by_transaction"),
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


class SearchEntry(models.Model):
    """What a search and its filters compare of a token, by one index.

    Triggers of the database write it with the token, and whenever what it says changes.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="search_entry")
    # Whether public lists show the token.
    is_listed = models.BooleanField()
    # Name and symbol in lower case, with a line break between them.
    text = models.TextField()
    # The token's own, for the filters; what these compare in any case is in lower case here.
    deployed_at = models.DateTimeField()
    chain_id = models.BigIntegerField()
    msg_sender = models.CharField(max_length=ADDRESS_LENGTH)
    requestor_fid = models.BigIntegerField(null=True)
    champagne = models.BooleanField()
    pair = models.TextField()
    paired_token = models.CharField(max_length=ADDRESS_LENGTH)
    pool_address = models.CharField(max_length=66)
    interface = models.TextField()

    objects = SearchEntryQuerySet.as_manager()

    class Meta:
        indexes = [
            # All conditions of a search in one: what meets each of them is found without reading what meets but one.
            # Trigrams find three letters in a row, the short grams what has none. There is no list of pending entries,
            # which every search would have to read through.
            GinIndex(
                OpClass(F("text"), name="gin_trgm_ops"),
                ShortGrams("text"),
                *map(F, ("chain_id", "msg_sender", "requestor_fid", "champagne", "pair", "paired_token")),
                *map(F, ("pool_address", "interface")),
                name="search_by_everything",
                fastupdate=False,
            ),
        ]

    def __str__(self) -> str:
        return self.text


class Market(models.Model):
    """What a token is worth, as the market-data provider said last; beside the token because it changes all the time.

    Every token has its row: a trigger of the database makes it. None is unknown; percentages are in percent points.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="market")
    price_usd = models.FloatField(null=True)
    # USD for one whole unit of the paired token, from the same answer.
    quote_price_usd = models.FloatField(null=True)
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)
    price_change_1h = models.FloatField(null=True)
    price_change_6h = models.FloatField(null=True)
    price_change_24h = models.FloatField(null=True)
    # When the provider said so.
    updated_at = models.DateTimeField(null=True)

    # When the provider is to be asked (again); a worker that asks puts it off by a lease.
    due_at = models.DateTimeField(db_default=Now())
    # Who comes first of those that are due, the smaller number: see market_schedule.
    priority = models.SmallIntegerField(db_default=Priority.OTHER.value)
    # When somebody looked at the token, to the minute.
    viewed_at = models.DateTimeField(null=True)
    # The provider doesn't know the pool: it is asked for the token.
    by_address = models.BooleanField(db_default=False)
    # How many times in a row it knew neither.
    misses = models.SmallIntegerField(db_default=0)

    objects = MarketQuerySet.as_manager()

    class Meta:
        indexes = [
            # Claiming what is due, one priority at a time, the newest token first of those due at once.
            models.Index(F("priority").asc(), F("due_at").asc(), F("token").desc(), name="market_due"),
            # The sorts of lists.
            *(
                index
                for sort in MARKET_SORTS
                for index in (
                    models.Index(
                        sort.key(descending=True).desc(), F("token").desc(), name=f"market_{sort.column}_down"
                    ),
                    models.Index(sort.key(descending=False).asc(), F("token").asc(), name=f"market_{sort.column}_up"),
                )
            ),
        ]

    def __str__(self) -> str:
        return f"market of token {self.pk}"


class MarketPoint(models.Model):
    """What a token was worth at one time: a line for each answer of the provider, kept for MARKET_HISTORY_DAYS."""

    token = models.ForeignKey(Token, models.CASCADE, db_index=False, related_name="market_points")
    at = models.DateTimeField()
    price_usd = models.FloatField()
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["token", "-at"], name="market_point_of_token")]

    def __str__(self) -> str:
        return f"market of token {self.token_id} at {self.at}"


class IndexRequest(models.Model):
    """One transaction that somebody asked us to index, and how far that came."""

    class Status(models.TextChoices):
        # To be read from the chain; `due_at` says when the sweeper enqueues it (again), a lease after its own message.
        PENDING = "pending"
        # Written; its block may still be dropped by a reorg.
        INDEXED = "indexed"
        # Written, and its block is deeper than the chain's finality.
        CONFIRMED = "confirmed"
        # Given up; `last_error` says why, and an operator can retry it.
        FAILED = "failed"
        # Was written, and the chain dropped it for good.
        ORPHANED = "orphaned"

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    # Tries to which the chain had an answer; an outage of its nodes does not count.
    attempts = models.PositiveIntegerField(default=0)
    # Tries in a row that a worker began and nobody ended: it was killed, or ran into a mistake of ours.
    unfinished = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    due_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = IndexRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "tx_hash"], name="index_request_once"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "indexed", "confirmed", "failed", "orphaned"]),
                name="index_request_status_known",
            ),
        ]
        indexes = [
            # The sweeper: what is due, oldest first.
            models.Index(fields=["due_at"], name="index_request_due", condition=Q(status="pending")),
            # The confirmer: what may be final by now.
            models.Index(
                fields=["chain_id", "block_number"], name="index_request_unconfirmed", condition=Q(status="indexed")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash} on {self.chain_id}: {self.status}"
