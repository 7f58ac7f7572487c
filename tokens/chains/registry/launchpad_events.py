"""Rules for events after a launch in a registry file: swap parts, curve trades, changes, and claims."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from tokens.chains.abi.paths import Path
from tokens.chains.registry.launchpad_tables import TableReader, ValueReader
from tokens.chains.registry.launchpads import (
    FLOWS,
    ChangedField,
    ClaimedAmount,
    CurvePrice,
    CurveTrade,
    EventEmitter,
    EventKey,
    EventSubject,
    PoolKind,
    SwapPart,
    TokenChange,
    TokenClaim,
)

# Pool kind -> ABI types that its id may have.
POOL_IDS: Mapping[PoolKind, tuple[str, ...]] = {
    "v2": ("address",),
    "v3": ("address",),
    "v4": ("bytes32",),
    "curve": ("address",),
}
# A token may leave a curve, and enters none.
_LATER_POOLS: tuple[PoolKind, ...] = ("v2", "v3", "v4")
_FILLED, _TAKEN = ("amount0", "amount1"), ("fee0", "fee1")
SWAP_PART = ("event", "pool", *_FILLED, *_TAKEN)
_AMOUNTS = ("int128", "int256")
UNSIGNED = tuple(f"uint{bits}" for bits in range(8, 257, 8))
_MOST_SUMMED = 5
_PURCHASE = ("token_out", "quote_in")
_SIDES = (_PURCHASE, ("token_in", "quote_out"), FLOWS)
# Trade key -> ABI types that it may have.
_TRADE_TYPES: Mapping[str, tuple[str, ...]] = {
    "token": ("address",),
    "trader": ("address",),
    "is_buy": ("bool",),
    **dict.fromkeys((*FLOWS, "fee"), UNSIGNED),
}
TRADE = ("event", *_TRADE_TYPES, "price")
# Key that identifies an event's token -> ABI types that it may have.
_SUBJECTS: Mapping[EventKey, tuple[str, ...]] = {
    "token": ("address",),
    "pool_id": ("bytes32", "address"),
    "nft_id": UNSIGNED,
}
# Emitter that `by` names -> whether an argument has to name the token.
_EMITTERS: Mapping[EventEmitter, bool] = {"pool": False, "hook": True}
_SUBJECT = ("event", *_SUBJECTS, "by")
CHANGE = (*_SUBJECT, "set", "to", "pool")
# Claim amounts that one table may have together.
_CLAIMED: tuple[tuple[ClaimedAmount, ...], ...] = (
    ("amount0", "amount1"),
    ("token_amount", "quote_amount"),
    ("token_amount",),
    ("quote_amount",),
    ("amount",),
)
_AMOUNTS_OF_CLAIMS: tuple[ClaimedAmount, ...] = ("amount0", "amount1", "token_amount", "quote_amount", "amount")
CLAIM = (*_SUBJECT, "recipient", *_AMOUNTS_OF_CLAIMS, "currency")
# Field that a change sets -> ABI types that it may have.
_CHANGED: Mapping[ChangedField, tuple[str, ...]] = {
    "creator": ("address",),
    "uri": ("string",),
    "image": ("string",),
    "name": ("string",),
    "symbol": ("string",),
    "pool": ("bytes32", "address"),
}
_MOST_DECIMALS = 77


class PriceTable(NamedTuple):
    """A price in a file: each value with its place in the file. `decimals` counts only without `token`."""

    quote: tuple[Any, str]
    token: tuple[Any, str] | None
    decimals: int = 0


def read_swap_part(launchpad: str, reader: TableReader, table: Mapping[str, Any], key_path: str) -> SwapPart | None:
    """Return the swap part that a table declares; None if the table is refused for a mistake."""
    parts = [pair for pair in (_FILLED, _TAKEN) if not table.keys().isdisjoint(pair)]
    if not parts or table.keys() != {"event", "pool", *chain.from_iterable(parts)}:
        reader.refuse(
            key_path, "expected a table of event and pool, with amount0 and amount1, fee0 and fee1, or all four"
        )
        return None
    declared = reader.event(table, key_path)
    if declared is None:
        return None
    event, values = declared
    amount0, amount1 = (
        values.path(table[key], f"{key_path}.{key}", _AMOUNTS) if key in table else None for key in _FILLED
    )
    fee0, fee1 = (tuple(_summed(reader, table.get(key, []), f"{key_path}.{key}", values)) for key in _TAKEN)
    return SwapPart(
        launchpad=launchpad,
        event=event,
        pool=values.path(table["pool"], f"{key_path}.pool", ("bytes32",)),
        amount0=amount0,
        amount1=amount1,
        fee0=fee0,
        fee1=fee1,
    )


def _summed(reader: TableReader, given: object, key_path: str, values: ValueReader) -> Iterator[Path]:
    """Yield an amount's paths: to one argument, or to several that add up to it."""
    paths = given if isinstance(given, list) else [given]
    if len(paths) > _MOST_SUMMED:
        reader.refuse(key_path, f"expected at most {_MOST_SUMMED} arguments")
    for path in paths:
        yield values.path(path, key_path, (*_AMOUNTS, *UNSIGNED))


def read_trade(launchpad: str, reader: TableReader, table: Mapping[str, Any], key_path: str) -> CurveTrade | None:
    """Return the trade that a table declares; None if the table is refused for a mistake."""
    reader.check_keys(table, TRADE, key_path)
    declared = reader.event(table, key_path)
    if declared is None:
        return None
    event, values = declared
    paths = {
        key: values.path(table[key], f"{key_path}.{key}", types) if key in table else None
        for key, types in _TRADE_TYPES.items()
    }
    flows = tuple(key for key in FLOWS if paths[key] is not None)
    if flows not in _SIDES:
        sides = "quote_in and token_out of a purchase, token_in and quote_out of a sale"
        reader.refuse(key_path, f"expected {sides}, or all four")
    for index, key in enumerate(flows):
        if twin := next((each for each in flows[:index] if paths[key] and paths[each] == paths[key]), None):
            reader.refuse(f"{key_path}.{key}", f"expected another argument than {twin} has")
    if paths["is_buy"] is not None and flows != _PURCHASE:
        reader.refuse(f"{key_path}.is_buy", "expected beside quote_in and token_out only: a sale has them exchanged")
    price = read_price(reader, table["price"], f"{key_path}.price") if "price" in table else None
    return CurveTrade(launchpad=launchpad, event=event, price=price and _trade_price(price, values), **paths)


def read_change(
    launchpad: str, has_nfts: bool, reader: TableReader, table: Mapping[str, Any], key_path: str
) -> TokenChange | None:
    """Return the change that a table declares; None if the table is refused for a mistake.

    `has_nfts` is whether any of the launchpad's launches has an NFT.
    """
    reader.check_keys(table, CHANGE, key_path)
    field = next((name for name in _CHANGED if name == table.get("set")), None)
    if field is None:
        reader.refuse(f"{key_path}.set", f"expected one of {', '.join(_CHANGED)}")
        return None
    kind = next((pool for pool in _LATER_POOLS if pool == table.get("pool")), None)
    if (field == "pool") != (kind is not None):
        reader.refuse(
            f"{key_path}.pool", f"expected one of {', '.join(_LATER_POOLS)} where a pool is set, else nothing"
        )
    if "to" not in table and kind != "v2":
        reader.refuse(f"{key_path}.to", "missing: the argument that has the new value")
    declared = reader.event(table, key_path)
    if declared is None:
        return None
    event, values = declared
    subject = _subject(reader, table, key_path, values, has_nfts=has_nfts)
    if field == "pool" and (subject.key != "token") != (subject.emitter == "token"):
        # The token's side in the pool is decided without a look-up in stored tokens.
        reader.refuse(f"{key_path}.set", "a pool is set by an event that has the token, or that the token emits")
    types = POOL_IDS[kind] if kind else _CHANGED[field]
    value = values.path(table["to"], f"{key_path}.to", types) if "to" in table else None
    if kind and value and value == subject.path:
        reader.refuse(f"{key_path}.to", "is the token: expected the argument that has the pool")
    return TokenChange(launchpad=launchpad, event=event, subject=subject, field=field, value=value, pool=kind)


def read_claim(
    launchpad: str, has_nfts: bool, reader: TableReader, table: Mapping[str, Any], key_path: str
) -> TokenClaim | None:
    """Return the claim that a table declares, as `read_change` does; None if the table is refused for a mistake."""
    reader.check_keys(table, CLAIM, key_path)
    amounts = tuple(key for key in _AMOUNTS_OF_CLAIMS if key in table)
    if amounts not in _CLAIMED:
        reader.refuse(key_path, "expected amount0 and amount1, token_amount or quote_amount or both, or amount")
    if ("currency" in table) != ("amount" in table):
        reader.refuse(
            f"{key_path}.currency", "expected beside amount, and nowhere else: the argument with its currency"
        )
    declared = reader.event(table, key_path)
    if declared is None:
        return None
    event, values = declared
    return TokenClaim(
        launchpad=launchpad,
        event=event,
        subject=_subject(reader, table, key_path, values, has_nfts=has_nfts),
        recipient=values.path(table.get("recipient"), f"{key_path}.recipient", ("address",)),
        amounts={key: values.path(table[key], f"{key_path}.{key}", UNSIGNED) for key in amounts},
        currency=values.path(table["currency"], f"{key_path}.currency", ("address",)) if "currency" in table else None,
    )


def _subject(
    reader: TableReader, table: Mapping[str, Any], key_path: str, values: ValueReader, *, has_nfts: bool
) -> EventSubject:
    """Return how an event identifies its token, and which contract may emit it.

    Without `by`, the NFT's contract emits an event with `nft_id`, the launch's contracts emit one with another key,
    and the token emits one without a key.
    """
    keys = [key for key in _SUBJECTS if key in table]
    if len(keys) > 1:
        reader.refuse(f"{key_path}.{keys[1]}", f"expected one of {', '.join(_SUBJECTS)}")
    key = keys[0] if keys else None
    path = values.path(table[key], f"{key_path}.{key}", _SUBJECTS[key]) if key else ()
    if key == "nft_id" and not has_nfts:
        reader.refuse(f"{key_path}.nft_id", "no launch has `nft`, by which a token is found")
    if "by" not in table:
        emitter: EventEmitter = "nft" if key == "nft_id" else "launch" if key else "token"
        return EventSubject(key=key, path=path, emitter=emitter)
    named = next((name for name in _EMITTERS if name == table["by"]), None)
    needs_key = named is None or _EMITTERS[named]
    if key == "nft_id" or needs_key != (key is not None):
        expected = "beside token or pool_id only" if needs_key else "without an argument that names the token"
        reader.refuse(f"{key_path}.by", f"expected {expected}")
    if named:
        return EventSubject(key=key, path=path, emitter=named)
    if isinstance(table["by"], str):
        names = ", ".join(f'"{name}"' for name in _EMITTERS)
        reader.refuse(f"{key_path}.by", f'expected {names}, or chains and contracts, such as {{ 8453 = ["0x..."] }}')
        return EventSubject(key=key, path=path, emitter={})
    return EventSubject(key=key, path=path, emitter=reader.contracts(table["by"], f"{key_path}.by"))


def read_price(reader: TableReader, table: object, key_path: str) -> PriceTable | None:
    """Return the price that a `price` table has; None if the table is refused for a mistake."""
    match table:
        case {"quote_reserve": quote, "token_reserve": token, **others} if not others:
            return PriceTable((quote, f"{key_path}.quote_reserve"), (token, f"{key_path}.token_reserve"))
        case {"value": value, "decimals": int(decimals), **others} if (
            not others and type(decimals) is int and 0 <= decimals <= _MOST_DECIMALS
        ):
            return PriceTable((value, f"{key_path}.value"), None, decimals)
    reader.refuse(
        key_path, f"expected quote_reserve and token_reserve, or value and decimals from 0 to {_MOST_DECIMALS}"
    )
    return None


def _trade_price(price: PriceTable, values: ValueReader) -> CurvePrice:
    token = values.path(*price.token, UNSIGNED) if price.token else None
    return CurvePrice(quote=values.path(*price.quote, UNSIGNED), token=token, decimals=price.decimals)
