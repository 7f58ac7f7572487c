"""Models for trades, pool liquidity and reference prices. Rows of orphaned blocks are deleted."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.contrib.postgres.indexes import BrinIndex, OpClass
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F

from config.postgresql.leased_queue import Leased, LeasedQuerySet
from tokens.chains.pool_types import split_position
from tokens.models.token import ADDRESS_LENGTH, Token

if TYPE_CHECKING:
    # Django's fields take no type arguments at run time.
    _Decimals = models.DecimalField[Decimal | None, Decimal | None]
else:
    _Decimals = models.DecimalField


class ExactNumericField(_Decimals):
    """A numeric column without a fixed digit count: a value is stored as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # PostgreSQL's limits, which DecimalField's checks require.
        super().__init__(*args, **kwargs | {"max_digits": 1000, "decimal_places": 1000})

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "numeric"

    def get_db_prep_value(self, value: Decimal | None, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return value


class PoolTrade(models.Model):
    """A swap in an indexed token's pool. Partitioned by `at`, and written by COPY.

    A row has no chain and no block hash: its token has the chain, and only canonical blocks are written.
    """

    pk = models.CompositePrimaryKey("token_id", "at", "position")
    # Tokens are never deleted, and a backfill writes millions of rows.
    token = models.ForeignKey(Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="trades")
    # Block time.
    at = models.DateTimeField()
    # `chain_position`: the API's id.
    position = models.BigIntegerField()
    # 32 bytes, on Solana 64.
    tx_hash = models.BinaryField()
    # The transaction's sender, 20 bytes or on Solana 32; None where only logs were read.
    trader = models.BinaryField(null=True)
    is_buy = models.BooleanField()
    # The launch's locker exchanged collected fees: no demand, and in no volume and no count.
    is_conversion = models.BooleanField()
    # Smallest units, both positive.
    amount_token = models.DecimalField(max_digits=78, decimal_places=0)
    amount_quote = models.DecimalField(max_digits=78, decimal_places=0)
    # The pool's price after the trade as far as liquidity reaches (`liquidity_bounds`), in whole quote tokens for
    # a whole token, to 24 significant digits. The ratio between the amounts is the trade's own price.
    price = ExactNumericField()
    # USD for a whole quote token at this trade, to 15 significant digits; None where no source has it.
    quote_usd = ExactNumericField(null=True)
    # The transaction's index in its block; None on Solana, and for trades stored before version 0.3.0.
    tx_index = models.IntegerField(null=True)
    # The liquidity providers' share of the amount paid in, in parts per million, for v4 (from its event) and
    # v2. None for v3's pools, where the launch has it, for curves, and where `tx_index` is None.
    fee = models.IntegerField(null=True)
    # What a v4 pool's hook took beside `amount_quote`, in the same unit: a purchase cost so much more, and a sale
    # brought so much less. None for other pools, and where no log proves it, as for trades stored before version 0.3.0.
    protocol_fee = models.DecimalField(max_digits=78, decimal_places=0, null=True)
    # The same beside `amount_token`, in the launched token: a purchase brought so much less. None where no declared
    # launchpad reports it.
    token_fee = models.DecimalField(max_digits=78, decimal_places=0, null=True)

    class Meta:
        db_table = "tokens_trade"
        indexes = [
            # Unwinding and verification: a block's trades.
            BrinIndex(
                OpClass(F("position"), name="int8_minmax_multi_ops"), name="trade_by_position", autosummarize=True
            ),
        ]

    def __str__(self) -> str:
        return f"{'buy' if self.is_buy else 'sell'} of token {self.token_id} in block {self.block_number}"

    @property
    def block_number(self) -> int:
        """Return the block number, on Solana the slot."""
        return split_position(self.position)[0]

    @property
    def log_index(self) -> int:
        """Return the log's index in the block."""
        return split_position(self.position)[1]


class PoolLiquidityChange(models.Model):
    """Liquidity added to a tick range in a token's pool, or removed (negative)."""

    pk = models.CompositePrimaryKey("token_id", "position")
    token = models.ForeignKey(
        Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="liquidity_changes"
    )
    position = models.BigIntegerField()
    at = models.DateTimeField()
    tick_lower = models.IntegerField()
    tick_upper = models.IntegerField()
    liquidity = models.DecimalField(max_digits=78, decimal_places=0)
    # As in `PoolTrade`; the first two are None for changes stored before version 0.3.0.
    tx_hash = models.BinaryField(null=True)
    tx_index = models.IntegerField(null=True)
    trader = models.BinaryField(null=True)
    # How much was added or removed in currency 0 and currency 1, in smallest units; None for v4, whose event has no
    # amounts, and for changes stored before version 0.3.0.
    amount0 = models.DecimalField(max_digits=78, decimal_places=0, null=True)
    amount1 = models.DecimalField(max_digits=78, decimal_places=0, null=True)

    class Meta:
        indexes = [
            # Unwinding and verification: a block's changes.
            models.Index(fields=["position"], name="liquidity_by_position"),
        ]

    def __str__(self) -> str:
        return f"liquidity {self.liquidity} in ticks {self.tick_lower} to {self.tick_upper} of token {self.token_id}"


class ReferencePrice(models.Model):
    """The USD price of a quote token after a block's last swap in one of the registry's reference pools."""

    pk = models.CompositePrimaryKey("chain_id", "pool", "block_number")
    chain_id = models.BigIntegerField()
    # A v3 pool's address or a v4 pool's id, in lower case.
    pool = models.CharField(max_length=66)
    block_number = models.BigIntegerField()
    position = models.BigIntegerField()
    at = models.DateTimeField()
    # The quote token.
    currency = models.CharField(max_length=ADDRESS_LENGTH)
    usd = ExactNumericField()

    class Meta:
        indexes = [
            # The rate when a period begins.
            models.Index(fields=["chain_id", "pool", "at", "block_number"], name="reference_price_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.usd} USD for {self.currency} at block {self.block_number} of chain {self.chain_id}"


class PoolBacklog(Leased):
    """Blocks whose logs from a token's pool are missing, up to the newest block that was read on the chain.

    They were read before the token was known, or without its quote token's decimals. The row ends with its reading.
    """

    QUEUE = "pool_backlogs"

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="pool_backlog")
    # The first of these blocks.
    next_block = models.BigIntegerField()

    objects = LeasedQuerySet["PoolBacklog"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="pool_backlog_due")]

    def __str__(self) -> str:
        return f"pool logs of token {self.pk} from block {self.next_block}"
