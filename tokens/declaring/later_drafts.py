"""Drafted trades, changes and claims, from an ABI's events: by names and types, and by logs that show them. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokens.chains.abi.codec import declared_event
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.registry.chains import ChainInfo
from tokens.declaring.abi_files import FileEvent
from tokens.declaring.draft_values import (
    TOKEN_NAMES,
    DraftTable,
    DraftValue,
    EventArgument,
    FileLog,
    event_arguments,
    first_named,
    quoted,
)
from tokens.declaring.trade_mistakes import read_transfers

_TRADES = re.compile("trad|buy|bought|sell|sold|sale|purchas|swap", re.I)
_BUYS, _SALES = re.compile("buy|bought|purchas", re.I), re.compile("sell|sold|sale", re.I)
_CLAIMS = re.compile("claim|withdraw|collect|releas|reward|payout|royalt|feespaid|distribut", re.I)
_CHANGES = re.compile("updat|chang|set|transfer|edit", re.I)
_GRADUATIONS = re.compile("graduat|migrat|complet|listed|moved", re.I)
_POOL_IDS = re.compile("^_?(pool_?id|pool_?key_?hash|id)$", re.I)
_POOLS = re.compile("pool|pair", re.I)
_CURRENCIES = re.compile("currency|token|asset", re.I)
_FORMER = re.compile("old|prev|former", re.I)
# Argument names, the preferred ones first.
_TRADERS = ("trader", "buyer", "seller", "account", "user", "recipient", "to", "sender", "caller", "maker")
_RECIPIENTS = ("recipient", "beneficiary", "claimer", "creator", "payee", "owner", "account", "user", "to")
_CREATORS = ("creator", "owner", "admin", "recipient", "deployer")
_OF_TOKEN = ("token", "coin", "asset", "base", "amount")
_OF_QUOTE = ("native", "eth", "quote", "cost", "paid", "wei", "currency", "collateral", "funds", "value")
_FEES, _RESERVES = re.compile("fee|tax", re.I), re.compile("reserve|virtual", re.I)
# Events that any token or contract may emit.
STANDARD_TOPICS = frozenset(
    declared_event(text).topic0
    for text in (
        "Transfer(address from, address to, uint256 value)",
        "Approval(address owner, address spender, uint256 value)",
        "OwnershipTransferred(address previousOwner, address newOwner)",
    )
)
_KEYS = ("trade", "change", "claim")
_BY_NAME = "guessed: by its name"
# Field that a change sets -> its argument's names.
_TEXTS = {"uri": ("uri", "url", "metadata"), "image": ("image", "logo"), "name": ("name",), "symbol": ("symbol",)}


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftedLaunch:
    """Addresses and ids that later events may use to name a launch."""

    chain: ChainInfo
    token: str
    # The factory, and curves that several tokens share; EIP-55.
    contracts: Sequence[str]
    kind: str
    # A v4 pool's id, or another pool's or curve's address; None without a pool, and for a curve that all tokens share.
    pool: str | None
    hook: str | None
    # Whether the launch makes a pair that its curve may graduate into.
    has_pair: bool


def draft_later(launch: DraftedLaunch, events: Sequence[FileEvent], logs: Sequence[FileLog]) -> Iterator[DraftTable]:
    """Yield tables for events that may be trades, changes or claims; `logs` are the logs of known transactions."""
    tables = []
    for event in {each.event.topic0: each for each in events if each.event.topic0 not in STANDARD_TOPICS}.values():
        shown = [log for log in logs if log.event.event.topic0 == event.event.topic0 and _is_about(log, launch)]
        draft = _EventDraft(launch=launch, event=event, shown=shown[0] if shown else None)
        if launch.kind == "curve" and is_trade(event):
            tables.append(draft.trade())
        elif table := draft.claim() if _CLAIMS.search(draft.name) else draft.change():
            tables.append(table)
    yield from sorted(tables, key=lambda table: _KEYS.index(table.key))


def is_trade(event: FileEvent) -> bool:
    """Return whether an event's name suggests a trade."""
    return bool(_TRADES.search(event.text.partition("(")[0]))


def find_quote(token: str, trades: Sequence[FileLog]) -> str | None:
    """Return another token that has a transfer with an amount from a trade; None without one."""
    for trade in trades:
        amounts = {each.value for each in trade.arguments if each.type.startswith("uint") and each.value}
        for address in dict.fromkeys(checksum_address(log["address"]) for log in trade.mined.logs):
            if address != token and amounts & {each.amount for each in read_transfers(trade.mined, address)}:
                return address
    return None


def _is_about(log: FileLog, launch: DraftedLaunch) -> bool:
    named = {launch.token, launch.pool} - {None}
    return log.emitter in named or any(argument.value in named for argument in log.arguments)


@dataclass(frozen=True, kw_only=True, slots=True)
class _EventDraft:
    """One event's draft. `shown` is a log with the event about the launch."""

    launch: DraftedLaunch
    event: FileEvent
    shown: FileLog | None

    @property
    def name(self) -> str:
        return self.event.text.partition("(")[0]

    @property
    def arguments(self) -> Sequence[EventArgument]:
        return self.shown.arguments if self.shown else tuple(event_arguments(self.event.fields, None))

    def trade(self) -> DraftTable:
        """Return a trade's table; incomplete if an amount, a side or the token is unknown."""
        token = self._traded_token()
        values = [self._event(), *(token or ())]
        if trader := self._address(_TRADERS, besides=token or ()):
            values.append(quoted("trader", trader.path, _BY_NAME))
        flows, missing = self._flows()
        values += flows
        others = {value.value for value in values}
        numbers = [each for each in self._numbers() if f'"{each.path}"' not in others]
        if fee := next((each for each in numbers if _FEES.search(each.name)), None):
            values.append(quoted("fee", fee.path, f"{_BY_NAME}: in the quote token, beside its amount"))
        values += self._price(numbers)
        if token is None:
            missing = "the argument with the token, in events of the launch's contracts"
        return DraftTable(key="trade", values=values, missing=missing and f"Trades with the curve lack: {missing}.")

    def claim(self) -> DraftTable | None:
        """Return a claim's table; None if its token, recipient or amounts are unknown."""
        subject = self._subject(pools=True)
        recipient = self._address(_RECIPIENTS, besides=subject or ())
        if subject is None or recipient is None:
            return None
        numbers = self._numbers()
        pair = [next((each for each in numbers if re.search(f"{index}$", each.name)), None) for index in (0, 1)]
        token_amount, quote_amount = (first_named(numbers, names[:-1]) for names in (_OF_TOKEN, _OF_QUOTE))
        currencies = [each for each in self._addresses(subject) if each is not recipient]
        currency = next((each for each in currencies if _CURRENCIES.search(each.name)), None)
        if pair[0] and pair[1]:
            amounts = [quoted(f"amount{index}", each.path, _BY_NAME) for index, each in enumerate(pair) if each]
        elif len(numbers) == 1 and currency:
            amounts = [quoted("amount", numbers[0].path, _BY_NAME), quoted("currency", currency.path, _BY_NAME)]
        elif token_amount and quote_amount and token_amount is not quote_amount:
            arguments = {"token_amount": token_amount, "quote_amount": quote_amount}
            amounts = [quoted(key, argument.path, _BY_NAME) for key, argument in arguments.items()]
        elif len(numbers) == 1:
            amounts = [quoted("quote_amount", numbers[0].path, "guessed: in the quote token")]
        else:
            return None
        paid = quoted("recipient", recipient.path, _BY_NAME)
        return DraftTable(key="claim", values=[self._event(), *subject, paid, *amounts])

    def change(self) -> DraftTable | None:
        """Return a change's table; None if its token or the new value is unknown."""
        if _GRADUATIONS.search(self.name):
            return self._graduation()
        subject = self._subject(pools=True)
        if subject is None or not _CHANGES.search(self.name):
            return None
        texts = [each for each in self.arguments if each.type == "string"]
        for field, names in _TEXTS.items():
            if changed := first_named(texts, names):
                return self._sets(subject, field, changed.path)
        creators = [each for each in self._addresses(subject) if not _FORMER.search(each.name)]
        changed = first_named([each for each in creators if "new" in each.name.lower()] or creators, _CREATORS)
        return self._sets(subject, "creator", changed.path) if changed else None

    def _graduation(self) -> DraftTable | None:
        subject = self._subject(pools=False)
        if subject is None or any(value.key == "by" and value.value == '"pool"' for value in subject):
            # The next pool is set by an event that has the token, or that the token emits.
            return None
        ids = [each for each in self.arguments if each.type == "bytes32" and _POOL_IDS.search(each.name)]
        pools = [each for each in self._addresses(subject) if _POOLS.search(each.name)]
        chain = self.launch.chain
        if ids and chain.v4_pool_manager:
            return self._sets(subject, "pool", ids[0].path, quoted("pool", "v4", "guessed: its id has 32 bytes"))
        if pools and (chain.v2_factory or chain.v3_factory):
            kind = quoted("pool", "v2" if chain.v2_factory else "v3", "guessed: v2 or v3, as it has an address")
            return self._sets(subject, "pool", pools[0].path, kind)
        if self.launch.has_pair and self.launch.kind == "curve":
            into = quoted("pool", "v2", "guessed: the pair that is created with the token")
            return self._sets(subject, "pool", None, into)
        return None

    def _sets(self, subject: Sequence[DraftValue], field: str, path: str | None, *more: DraftValue) -> DraftTable:
        to = [quoted("to", path, _BY_NAME)] if path else []
        values = [self._event(), *subject, quoted("set", field, "guessed: by the names of the event"), *to, *more]
        return DraftTable(key="change", values=values)

    def _event(self) -> DraftValue:
        return quoted("event", self.event.text, self.shown.label if self.shown else f"{_BY_NAME}; try it by --trade")

    def _subject(self, *, pools: bool) -> list[DraftValue] | None:
        """Return the lines about the token and the emitter; None if nothing names the token."""
        keys = [("token", ("address",), self.launch.token, TOKEN_NAMES)]
        pool_keys = [("pool_id", ("bytes32", "address"), self.launch.pool, _POOL_IDS)] if pools else []
        for key, types, value, names in (*keys, *pool_keys):
            arguments = [each for each in self.arguments if each.type in types]
            if self.shown and (equal := [each for each in arguments if each.value == value]):
                return [quoted(key, equal[0].path), *self._emitter()]
            if not self.shown and (similar := [each for each in arguments if names.search(each.name)]):
                return [quoted(key, similar[0].path, _BY_NAME)]
        if self.shown and self.shown.emitter == self.launch.token:
            return []
        if self.shown and self.shown.emitter == self.launch.pool:
            return [quoted("by", "pool")]
        return None

    def _traded_token(self) -> list[DraftValue] | None:
        """Return the line about a trade's token: empty if the token's own curve emits it, None if it is unknown."""
        if self.shown and self.shown.emitter == self.launch.pool:
            return []
        if self.shown and self.shown.emitter not in self.launch.contracts:
            return None
        subject = self._subject(pools=False)
        return [] if subject is None and self.launch.pool else subject

    def _emitter(self) -> list[DraftValue]:
        if self.shown is None or self.shown.emitter in self.launch.contracts:
            return []
        emitter = self.shown.emitter
        if emitter == self.launch.hook:
            return [quoted("by", "hook", "guessed: or a contract of the launchpad")]
        return [DraftValue(key="by", value=f'{{ {self.launch.chain.chain_id} = ["{emitter}"] }}')]

    def _flows(self) -> tuple[list[DraftValue], str]:
        """Return the lines about amounts, and the missing keys in words."""
        numbers = [each for each in self._numbers() if not _FEES.search(each.name) and not _RESERVES.search(each.name)]
        sides = [(way, index) for index in (0, 1) for way in ("in", "out")]
        four = [first_named(numbers, (f"amount{index}{way}",)) for way, index in sides]
        if all(four):
            keys = (f"{'quote' if index else 'token'}_{way}" for way, index in sides)
            return [
                quoted(key, each.path, "guessed: the token is the first one")
                for key, each in zip(keys, four, strict=True)
                if each
            ], ""
        is_buy = next((each for each in self.arguments if each.type == "bool" and "buy" in each.name.lower()), None)
        is_sale = bool(_SALES.search(self.name)) and not _BUYS.search(self.name) and not is_buy
        token_key, quote_key = ("token_in", "quote_out") if is_sale else ("token_out", "quote_in")
        token, comment = self._token_amount(numbers, is_sale=is_sale)
        quote = first_named(
            [each for each in numbers if each is not token], (*_OF_QUOTE, f"amount{'out' if is_sale else 'in'}")
        )
        values = [quoted("is_buy", is_buy.path, _BY_NAME)] if is_buy else []
        if token:
            values.append(quoted(token_key, token.path, comment))
        if quote:
            values.append(quoted(quote_key, quote.path, _BY_NAME))
        if not (is_buy or is_sale or _BUYS.search(self.name)):
            return values, "the side, as is_buy or as token_in and quote_out of sales"
        missing = [key for key, argument in ((token_key, token), (quote_key, quote)) if not argument]
        return values, " and ".join(missing)

    def _token_amount(self, numbers: Sequence[EventArgument], *, is_sale: bool) -> tuple[EventArgument | None, str]:
        """Return the argument that equals a token transfer's amount, else one by its name; with the comment."""
        moved = {each.amount for each in read_transfers(self.shown.mined, self.launch.token)} if self.shown else set()
        if equal := [each for each in numbers if each.value in moved - {0}]:
            return equal[0], "" if len(equal) == 1 else "guessed: of several that a transfer of the token has"
        return first_named(numbers, (f"amount{'in' if is_sale else 'out'}", *_OF_TOKEN)), _BY_NAME

    def _price(self, numbers: Sequence[EventArgument]) -> list[DraftValue]:
        reserves = [each for each in numbers if _RESERVES.search(each.name)]
        token, quote = first_named(reserves, _OF_TOKEN[:-1]), first_named(reserves, _OF_QUOTE)
        if token and quote and token is not quote:
            value = f'{{ quote_reserve = "{quote.path}", token_reserve = "{token.path}" }}'
            return [DraftValue(key="price", value=value, comment=_BY_NAME)]
        if price := first_named(numbers, ("price",)):
            value = f'{{ value = "{price.path}", decimals = 18 }}'
            return [
                DraftValue(key="price", value=value, comment=f"{_BY_NAME}, for 10^18 of the token's smallest units")
            ]
        return []

    def _numbers(self) -> list[EventArgument]:
        return [each for each in self.arguments if each.type.startswith("uint")]

    def _addresses(self, subject: Sequence[DraftValue]) -> list[EventArgument]:
        used = {value.value for value in subject}
        return [each for each in self.arguments if each.type == "address" and f'"{each.path}"' not in used]

    def _address(self, names: Sequence[str], *, besides: Sequence[DraftValue]) -> EventArgument | None:
        accounts = [each for each in self._addresses(besides) if each.value != ZERO_ADDRESS]
        return first_named(accounts, names)
