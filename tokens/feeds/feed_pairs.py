"""Feed pairs and assets: launched tokens, their pools, and their quote tokens.

A token that graduates, or whose launchpad moves its liquidity, has one pair per pool.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.chains.pool_types import chain_position
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Token, TokenEvent, TokenPool
from tokens.trades.pool_prices import tick_root

_COLUMNS = (
    "pk", "contract_address", "symbol", "decimals", "pool_address", "paired_token", "pair", "locker_address",
    "factory_address", "msg_sender", "generation", "block_number", "deployed_at", "tx_hash",
)  # fmt: skip
_POOL, _FEES, _CURVE = (KeyTransform(name, "launch__facts") for name in ("pool", "fees", "curve_config"))
_PPM_PER_BPS = 100
_NATIVE_DECIMALS = 18


class FeedPair(NamedTuple):
    """A launched token's pool. The token is asset 0, and the quote token asset 1, whatever the pool's sequence.

    Block, time and transaction come from the launch; for a later pool, from the change into it.
    """

    token_id: int
    token: str
    symbol: str
    decimals: int
    pool: str
    quote: str
    quote_symbol: str
    locker: str
    factory: str
    creator: str
    generation: str
    block_number: int
    # Unix seconds.
    created_at: int
    tx_hash: str
    quote_decimals: int
    # Whether the token is the pool's currency 0. On a bonding curve it always is.
    is_currency0: bool
    is_curve: bool
    # The square root of the pool's first price, None if unknown.
    root: int | None
    # Parts per million in both directions; None if they differ or change, and for later pools.
    fee: int | None
    # Position of the change into the pool; None for the launch's pool.
    since: int | None = None

    def has_event(self, position: int, tx_hash: str, *, is_join: bool) -> bool:
        """Return whether an event in the token's pools happened in this pool or a later one.

        The transaction that changes the pool adds the new pool's liquidity before its change event.
        """
        return self.since is None or position >= self.since or (is_join and tx_hash == self.tx_hash)


class FeedAsset(NamedTuple):
    """A launched token or a quote token; `supply` is in smallest units, None if unknown."""

    address: str
    name: str
    symbol: str
    decimals: int
    supply: int | None = None
    # A vault, an airdrop or a presale got a share, and no row stores how much was claimed since.
    has_locked_supply: bool = False


def find_pair(chain: ChainInfo, pool: str) -> FeedPair | None:
    """Return the pair in a pool, named by address or id in stored form. Two queries, more for a former pool."""
    tokens = Token.objects.on_chain().filter(chain_id=chain.chain_id).order_by("pk")
    searches = (tokens.filter(pool_address=pool), tokens.filter(pools__pool_address=pool))
    pairs = (pair for search in searches for pair in _read_pairs(search) if pair.pool == pool)
    return next(pairs, None)


def find_pairs(token_ids: Collection[int]) -> dict[int, list[FeedPair]]:
    """Return token id -> its pairs in sequence, without tokens whose quote token has unknown decimals.

    Two queries, and one more if a token has several pools.
    """
    pairs = defaultdict(list)
    for pair in _read_pairs(Token.objects.filter(pk__in=token_ids)):
        pairs[pair.token_id].append(pair)
    return dict(pairs)


def read_chain_pairs(chain: ChainInfo) -> Iterator[FeedPair]:
    """Yield a chain's pairs. Two queries, and one more if a token has several pools."""
    tokens = Token.objects.on_chain().filter(chain_id=chain.chain_id).exclude(pool_address="")
    return _read_pairs(tokens.order_by("pk"))


def find_asset(chain: ChainInfo, address: str) -> FeedAsset | None:
    """Return a launched token, or one of the registry's quote tokens, by address in stored form. At most one query.

    The zero address is the chain's native coin, on chains where tokens are paired with it.
    """
    columns = ("name", "symbol", "decimals", "supply", "presale_id", "extensions")
    launched = Token.objects.at_address(address, chain_id=chain.chain_id).values_list(*columns).first()
    if launched:
        name, symbol, decimals, supply, presale_id, extensions = launched
        symbol = first_shown(symbol, address)
        return FeedAsset(
            address,
            first_shown(name, symbol),
            symbol,
            decimals,
            None if supply is None else int(supply),
            has_locked_supply=bool(presale_id or extensions["vault"] or extensions["airdrop"]),
        )
    if address == ZERO_ADDRESS and address in chain.native_quotes:
        return FeedAsset(address, chain.native, chain.native, _NATIVE_DECIMALS)
    quote = chain.quote_tokens.get(address_key(address))
    return None if quote is None else FeedAsset(quote.address, quote.symbol, quote.symbol, quote.decimals)


def first_shown(*texts: str) -> str:
    """Return the first text with a visible character: aggregators stop at an empty name."""
    return next(text for text in texts if any(char.isprintable() and not char.isspace() for char in text))


def _read_pairs(tokens: QuerySet[Token]) -> Iterator[FeedPair]:
    """Yield the tokens' pairs; one token's pairs are in sequence."""
    changes = _read_changes(tokens)
    for *columns, pool, fees, curve in tokens.values_list(*_COLUMNS, _POOL, _FEES, _CURVE):
        pk, token, symbol, decimals, current_pool, quote, quote_symbol, *others, block, created_at, tx_hash = columns
        if not pool or pool["pair_decimals"] is None:
            continue
        locker, factory, creator, generation = others
        is_currency0 = curve is not None or address_key(token) < address_key(quote)
        tick = None if pool.get("tick") is None else int(pool["tick"])
        launch_pair = FeedPair(
            token_id=pk,
            token=token,
            symbol=symbol or token,
            decimals=decimals,
            pool=pool.get("address") or current_pool,
            quote=quote,
            quote_symbol=quote_symbol or quote,
            locker=locker,
            factory=factory,
            creator=creator,
            generation=generation,
            block_number=block,
            created_at=int(created_at.timestamp()),
            tx_hash=tx_hash,
            quote_decimals=int(pool["pair_decimals"]),
            is_currency0=is_currency0,
            is_curve=curve is not None,
            root=None if tick is None else tick_root(tick if is_currency0 else -tick),
            fee=_static_fee(fees),
        )
        yield launch_pair
        for change in changes.get(pk, ()):
            yield launch_pair._replace(**change, is_curve=False, fee=None)


def _read_changes(tokens: QuerySet[Token]) -> dict[int, list[dict[str, Any]]]:
    """Return token id -> changed fields for each later pair, in sequence. One query, and one more if there are any."""
    pools = TokenPool.objects.filter(token__in=tokens.order_by())
    sides = defaultdict[int, dict[str, bool | None]](dict)
    for token_id, pool, is_currency0 in pools.values_list("token_id", "pool_address", "is_currency0"):
        sides[token_id][pool] = is_currency0
    if not sides:
        return {}
    changes = defaultdict[int, list[dict[str, Any]]](list)
    columns = ("token_id", "block_number", "log_index", "at", "tx_hash", "arguments")
    events = TokenEvent.objects.filter(token__in=sides, kind=EventKind.POOL_CHANGED).values_list(*columns)
    for token_id, block, log_index, changed_at, tx_hash, arguments in events.order_by("block_number", "log_index"):
        later_pools = {pool for pool, is_currency0 in sides[token_id].items() if is_currency0 is not None}
        # A graduation event without a pool goes into the pair that was created with the token.
        new_pools = {arguments["pool"]} if arguments["pool"] else later_pools
        for pool in new_pools & later_pools:
            root = arguments.get("sqrtPriceX96")
            changes[token_id].append(
                {
                    "pool": pool,
                    "is_currency0": sides[token_id][pool],
                    "block_number": block,
                    "created_at": int(changed_at.timestamp()),
                    "tx_hash": tx_hash,
                    "root": None if root is None else int(root),
                    "since": chain_position(block, log_index),
                }
            )
    return dict(changes)


def _static_fee(fees: dict[str, Any] | None) -> int | None:
    if not fees or fees.get("type") != "static" or fees.get("clanker_fee") != fees.get("paired_fee"):
        return None
    return int(Decimal(str(fees["clanker_fee"])) * _PPM_PER_BPS)
