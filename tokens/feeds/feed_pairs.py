"""Pairs and assets of feeds: pools of launched tokens, these tokens, and their quote tokens."""

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Token

_COLUMNS = (
    "pk", "contract_address", "symbol", "decimals", "pool_address", "paired_token", "pair", "locker_address",
    "factory_address", "msg_sender", "block_number", "deployed_at", "tx_hash",
)  # fmt: skip
_POOL, _FEES = KeyTransform("pool", "launch__facts"), KeyTransform("fees", "launch__facts")
_PPM_PER_BPS = 100


class FeedPair(NamedTuple):
    """The pool of a launched token. The token is asset 0, and the quote token asset 1, whatever the pool's sequence."""

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
    block_number: int
    # Unix seconds.
    created_at: int
    tx_hash: str
    quote_decimals: int
    # The pool's first tick, None if unknown.
    tick: int | None
    # Parts per million of both directions; None where they differ or change.
    fee: int | None

    @property
    def is_currency0(self) -> bool:
        """Return whether the token is currency 0 of its pool."""
        return address_key(self.token) < address_key(self.quote)


class FeedAsset(NamedTuple):
    """A launched token or a quote token; its supply in smallest units if it is known."""

    address: str
    name: str
    symbol: str
    decimals: int
    supply: int | None = None
    # A part of the supply was given to a vault, an airdrop or a presale, of which it is not stored what is claimed.
    has_locked_supply: bool = False


def find_pair(chain: ChainInfo, pool: str) -> FeedPair | None:
    """Return the pair in a pool, an address or id in stored form. One query."""
    tokens = Token.objects.filter(chain_id=chain.chain_id).in_pools([pool]).order_by("pk")
    return next(_read_pairs(tokens), None)


def find_pairs(token_ids: Collection[int]) -> dict[int, FeedPair]:
    """Return token id -> pair, without those of quote tokens of unknown decimals, which have no trades. One query."""
    return {pair.token_id: pair for pair in _read_pairs(Token.objects.filter(pk__in=token_ids))}


def read_chain_pairs(chain: ChainInfo) -> Iterator[FeedPair]:
    """Yield all pairs of a chain. One query."""
    tokens = Token.objects.on_chain().filter(chain_id=chain.chain_id).exclude(pool_address="")
    return _read_pairs(tokens.order_by("pk"))


def find_asset(chain: ChainInfo, address: str) -> FeedAsset | None:
    """Return a launched token, or a quote token of the registry, by its address in stored form. At most one query."""
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
    quote = chain.quote_tokens.get(address_key(address))
    return None if quote is None else FeedAsset(quote.address, quote.symbol, quote.symbol, quote.decimals)


def first_shown(*texts: str) -> str:
    """Return the first text with a visible character: aggregators stop at an empty name."""
    return next(text for text in texts if any(part.isprintable() and not part.isspace() for part in text))


def _read_pairs(tokens: QuerySet[Token]) -> Iterator[FeedPair]:
    for *columns, pool, fees in tokens.values_list(*_COLUMNS, _POOL, _FEES):
        pk, token, symbol, decimals, address, quote, quote_symbol, *others, block, created_at, tx_hash = columns
        if not pool or pool["pair_decimals"] is None:
            continue
        locker, factory, creator = others
        yield FeedPair(
            token_id=pk,
            token=token,
            symbol=symbol or token,
            decimals=decimals,
            pool=address,
            quote=quote,
            quote_symbol=quote_symbol or quote,
            locker=locker,
            factory=factory,
            creator=creator,
            block_number=block,
            created_at=int(created_at.timestamp()),
            tx_hash=tx_hash,
            quote_decimals=int(pool["pair_decimals"]),
            tick=None if pool.get("tick") is None else int(pool["tick"]),
            fee=_static_fee(fees),
        )


def _static_fee(fees: dict[str, Any] | None) -> int | None:
    if not fees or fees.get("type") != "static" or fees.get("clanker_fee") != fees.get("paired_fee"):
        return None
    return int(Decimal(str(fees["clanker_fee"])) * _PPM_PER_BPS)
