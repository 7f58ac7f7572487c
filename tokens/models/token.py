"""Launched token model."""

from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, Value, When
from django.db.models.functions import Lower

from accounts.models import SocialProfile
from config.site.formats import plain
from tokens.chains.registry.entry_rules import LONGEST_GENERATION_NAME
from tokens.models.expressions import INTERFACE, EqualsAny, FeeRecipients, UnsupportedPrice
from tokens.models.sorts import at_least

# Warnings that are determined when a token is read: operators may tag other tokens later, and prices change.
POSSIBLE_COPY = "POSSIBLE_COPY"
UNSUPPORTED_PRICE = "UNSUPPORTED_PRICE"

# EIP-55 addresses have 42 characters, base58 mints up to 44.
ADDRESS_LENGTH = 44

# Condition for public lists.
_LISTED = Q(blocked=False, unindexed=False)
_LISTING_COLUMNS = ("blocked", "unindexed")
# The stored facts that verify a record's `trust`.
_TRUSTED = Q(verified=True) | Q(known_interface_deployer=True)
_WARNED = ~Q(launch_warnings=[])
_UNSUPPORTED = UnsupportedPrice(F("id"), F("supply"))


def _no_list() -> list[str]:
    return []


def all_warnings(of_launch: list[str], possible_copy: bool, has_unsupported_price: int) -> list[str]:
    """Return a launch's warnings, followed by the warnings that are determined on read."""
    on_read = ((POSSIBLE_COPY, possible_copy), (UNSUPPORTED_PRICE, has_unsupported_price))
    codes = [code for code, applies in on_read if applies]
    return [*of_launch, *codes] if codes else of_launch


class TokenQuerySet(models.QuerySet["Token"]):
    """Queries for tokens."""

    def on_chain(self) -> Self:
        """Return the tokens with a launch in a canonical block."""
        return self.filter(unindexed=False)

    def hide(self) -> int:
        """Mark tokens as dropped from their chain; return how many. A later launch has to be confirmed anew.

        A trigger stores `token.reorged` for each one that was listed.
        """
        return self.update(unindexed=True, confirmed=False)

    def confirm(self) -> int:
        """Mark these tokens' launches as final; return how many were not. A trigger stores `token.confirmed`."""
        return self.on_chain().filter(confirmed=False).update(confirmed=True)

    def listed(self) -> Self:
        """Return the tokens in public lists."""
        return self.on_chain().filter(blocked=False)

    def with_warnings(self) -> Self:
        """Annotate with what `warnings` states besides columns: `possible_copy` and `has_unsupported_price`.

        The former: an older verified or champagne token has the same name and symbol.
        """
        return self.annotate(possible_copy=self._has_original(), has_unsupported_price=_UNSUPPORTED)

    def _has_original(self) -> Exists:
        originals = self.model._default_manager.filter(
            Q(verified=True) | Q(champagne=True),
            copy_key=OuterRef("copy_key"),
            deployed_at__lt=OuterRef("deployed_at"),
        )
        return Exists(originals)

    def with_record_facts(self) -> Self:
        """Annotate with what records state besides columns: `with_warnings`, and `user_verified`.

        The latter: the requestor's profile has the launch's sender as a verified wallet. Others may name any user.
        """
        profiles = SocialProfile.objects.filter(
            EqualsAny(OuterRef("msg_sender"), F("verified_addresses")), fid=OuterRef("requestor_fid")
        )
        return self.with_warnings().annotate(user_verified=Exists(profiles))

    def trusted(self) -> Self:
        """Return the tokens that an operator verified, or a known deployer launched."""
        return self.filter(_TRUSTED)

    def warned(self) -> Self:
        """Return the tokens with a warning about their launch: neither about other tokens nor about the price."""
        return self.filter(_WARNED)

    def without_warnings(self) -> Self:
        """Return the tokens without any warning."""
        supported = self.alias(has_unsupported_price=_UNSUPPORTED).exclude(has_unsupported_price=1)
        return supported.filter(~self._has_original(), launch_warnings=[])

    def with_least(self, column: str, least: float) -> Self:
        """Return the tokens with at least this number in a market sort's column, by its descending index."""
        # Every token has a market. The filter makes the join an inner one, which can start from the market's index.
        return self.filter(at_least(column, least, prefix="market__"), market__isnull=False)

    def paying(self, recipient: str) -> Self:
        """Return the tokens with this current fee recipient, in stored form."""
        return self.alias(recipients=FeeRecipients("extensions")).filter(recipients__contains=[recipient])

    def in_pool_or_paired_with(self, address: str) -> Self:
        """Return the tokens with this pool or paired token, an address in stored form."""
        return self.filter(Q(pool_address=address) | Q(paired_token=address))

    def paired(self, symbol: str) -> Self:
        """Return the tokens paired with a token that has this symbol, case-insensitively."""
        return self.alias(pair_key=Lower("pair")).filter(pair_key=Lower(Value(symbol)))

    def launched_by_interface(self, interface: str) -> Self:
        """Return the tokens launched by this interface, case-insensitively."""
        return self.alias(interface=INTERFACE).filter(interface=Lower(Value(interface)))

    def of_generations(self, names: Sequence[str]) -> Self:
        """Return the tokens with these stored generations."""
        # An index is in time order only for one value, not for a list.
        return self.filter(generation=names[0]) if len(names) == 1 else self.filter(generation__in=names)

    def in_pools(self, addresses: list[str]) -> Self:
        """Return the tokens in the pools with these addresses or ids, in stored form."""
        return self.on_chain().filter(pool_address__in=addresses)

    def at_address(self, address: str, *, chain_id: int | None) -> Self:
        """Return the tokens at an address in stored form, on one chain or on all."""
        tokens = self.on_chain().filter(contract_address=address)
        return tokens if chain_id is None else tokens.filter(chain_id=chain_id)

    def at_addresses(self, addresses: Sequence[str], *, chain_id: int | None) -> Self:
        """Return the tokens at these addresses in stored form, on one chain or on all."""
        tokens = self.on_chain().filter(contract_address__in=addresses)
        return tokens if chain_id is None else tokens.filter(chain_id=chain_id)

    def in_chain_order(self, chain_ids: list[int]) -> Self:
        """Sort by the position of the token's chain in this list; other chains come last."""
        positions = [When(chain_id=chain_id, then=position) for position, chain_id in enumerate(chain_ids)]
        return self.order_by(Case(*positions, default=len(positions), output_field=IntegerField()), "id")

    def blocked_at(self, address: str, *, chain_id: int | None) -> Self:
        """Return the blocked tokens at an address in stored form, on one chain or on all.

        Includes tokens dropped by a reorg: an operator's tag holds until an operator removes it.
        """
        tokens = self.filter(contract_address=address, blocked=True)
        return tokens if chain_id is None else tokens.filter(chain_id=chain_id)

    def deployed_by(self, wallet: str) -> Self:
        """Return the tokens that a wallet, in stored form, sent or requested."""
        return self.filter(Q(msg_sender=wallet) | Q(requestor_address=wallet))

    def deployed_with(self, row_id: int, *, fid: int | None, wallet: str | None) -> Self:
        """Return the tokens with the same requestor; if that is unknown, with the same wallet."""
        if fid is not None:
            return self.on_chain().filter(requestor_fid=fid)
        if wallet:
            return self.on_chain().deployed_by(wallet)
        return self.filter(pk=row_id)

    def launched_from(self, wallets: Sequence[str]) -> Self:
        """Return the tokens that a known deployer or these wallets sent: their named user is confirmed."""
        return self.filter(Q(known_interface_deployer=True) | Q(msg_sender__in=wallets))

    def launched_in(self, *, chain_id: int, tx_hash: str) -> Self:
        """Return the tokens that one transaction launched."""
        return self.filter(chain_id=chain_id, tx_hash=tx_hash)

    def launched_on(self, chain_id: int) -> Self:
        """Return the tokens that were ever indexed from this chain, even if a reorg dropped them since."""
        return self.filter(chain_id=chain_id, launch__isnull=False)


class Token(models.Model):
    """A launched token as on the chain, with the operators' tags.

    Unknown text is the empty string and null in responses. Addresses are stored as displayed: EIP-55, or base58
    unchanged; 32-byte pool ids in lower case.
    """

    chain_id = models.BigIntegerField()
    contract_address = models.CharField(max_length=ADDRESS_LENGTH)
    # The generation's name in the registry; its label is the API's `type`.
    generation = models.CharField(max_length=LONGEST_GENERATION_NAME)
    # True if no canonical block contains the launch: a reorg dropped it.
    unindexed = models.BooleanField(default=False)
    # Whether the launch's block is final; written with its events.
    confirmed = models.BooleanField(default=False, db_default=False)

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
    # At most 77: a generation's ERC-20 has 18 decimals; declared launchpads and Solana mints have their own.
    decimals = models.SmallIntegerField(default=18, db_default=18)
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
    # 256-bit numbers, stored as decimal digits.
    position_id = models.CharField(max_length=78, blank=True)
    presale_id = models.CharField(max_length=78, blank=True)

    metadata = models.JSONField()
    social_context = models.JSONField()
    deploy_config = models.JSONField()
    pool_config = models.JSONField()
    extensions = models.JSONField()
    starting_market_cap = models.FloatField(null=True, blank=True)
    # Warnings about the launch; POSSIBLE_COPY and UNSUPPORTED_PRICE are determined on read.
    launch_warnings = ArrayField(models.CharField(max_length=32), default=_no_list, blank=True)
    # Digest of name and symbol in normal form, which detects copies.
    copy_key = models.CharField(max_length=64)

    # The token's original admin called its verify().
    verified_on_chain = models.BooleanField(default=False, db_default=False)

    # The operators' tags, which no chain event changes.
    champagne = models.BooleanField(default=False)
    verified = models.BooleanField(default=False)
    known_interface_deployer = models.BooleanField(default=False)
    blocked = models.BooleanField(default=False)

    # Set by `with_warnings()`.
    possible_copy: bool
    has_unsupported_price: int
    # Whether the sender is the requestor's verified wallet; set by `with_record_facts()`.
    user_verified: bool

    objects = TokenQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "contract_address"], name="token_once_per_chain"),
            models.CheckConstraint(condition=Q(supply__isnull=True) | Q(supply__gte=0), name="token_supply_positive"),
        ]
        indexes = [
            # GET /api/tokens: newest first, on all chains or one; the counts are index-only scans.
            models.Index(fields=["-deployed_at", "-id"], name="token_listed_newest", condition=_LISTED),
            models.Index(fields=["chain_id", "-deployed_at", "-id"], name="token_by_chain_newest", condition=_LISTED),
            # The lists' narrower filters, and the number of a deployer's tokens.
            # The listing condition's columns are included, so that a search among these reads only the index.
            models.Index(
                fields=["msg_sender", "-deployed_at", "-id"], name="token_by_sender_newest", include=_LISTING_COLUMNS
            ),
            models.Index(
                fields=["requestor_fid", "-deployed_at", "-id"], name="token_by_fid_newest", include=_LISTING_COLUMNS
            ),
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
            models.Index(
                fields=["generation", "-deployed_at", "-id"], name="token_by_generation_newest", condition=_LISTED
            ),
            models.Index(fields=["-deployed_at", "-id"], name="token_champagne_newest", condition=Q(champagne=True)),
            models.Index(fields=["-deployed_at", "-id"], name="token_trusted_newest", condition=_LISTED & _TRUSTED),
            models.Index(fields=["-deployed_at", "-id"], name="token_warned_newest", condition=_LISTED & _WARNED),
            # GET /api/creators/{creator}: the tokens that pay fees to a wallet.
            GinIndex(FeeRecipients("extensions"), name="token_by_fee_recipient"),
            # GET /api/tokens/fetch-by-pool-address and its plural.
            models.Index(fields=["pool_address"], name="token_by_pool", condition=~Q(pool_address="")),
            # GET /api/get-token-by-address without a chain.
            models.Index(fields=["contract_address"], name="token_by_address"),
            # GET /api/tokens/fetch-by-admin.
            models.Index(
                fields=["admin", "-deployed_at", "-id"],
                name="token_by_admin_newest",
                condition=~Q(admin=""),
                include=_LISTING_COLUMNS,
            ),
            # The token for an event that does not name it: v0 and v1 lockers hold a single token's position, and
            # v3.1's shared locker names the position.
            models.Index(
                fields=["locker_address", "position_id"],
                name="token_by_locker_position",
                condition=~Q(position_id=""),
            ),
            # Unwinding one transaction, and a search for its hash.
            models.Index(fields=["tx_hash"], name="token_by_transaction"),
            # A block's launches: for unwinding and verification.
            models.Index(fields=["chain_id", "block_number"], name="token_by_block"),
            # The launches in blocks that become final.
            models.Index(
                fields=["chain_id", "block_number"],
                name="token_unconfirmed",
                condition=Q(confirmed=False, unindexed=False),
            ),
            # The warning POSSIBLE_COPY: older tokens that are worth copying.
            models.Index(
                fields=["copy_key", "deployed_at"],
                name="token_copied",
                condition=Q(verified=True) | Q(champagne=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{plain(self.symbol) or '(no symbol)'} {self.contract_address} on {self.chain_id}"

    @property
    def warnings(self) -> list[str]:
        """Return all warnings. Requires `with_warnings()`."""
        return all_warnings(self.launch_warnings, self.possible_copy, self.has_unsupported_price)
