"""Rules for `[launchpads.<name>]` in a registry file. Every mistake is reported with its place."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from tokens.chains.registry.entry_rules import launchpad_name
from tokens.chains.registry.launchpad_events import (
    POOL_IDS,
    UNSIGNED,
    read_change,
    read_claim,
    read_price,
    read_swap_part,
    read_trade,
)
from tokens.chains.registry.launchpad_tables import Refuse, TableReader, ValueReader
from tokens.chains.registry.launchpads import (
    RESERVES,
    Argument,
    Constant,
    LaunchDeclaration,
    LaunchNft,
    Launchpad,
    TokenEventDeclaration,
    Value,
    View,
)

# Launch field -> ABI types that it may have; the types for a pool's id depend on the pool kind.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("string",),
    "symbol": ("string",),
    "uri": ("string",),
    "image": ("string",),
    "creator": ("address",),
    "quote": ("address",),
    "pool_id": (),
}
LAUNCHPAD = ("title", "pool", "internal_senders", "swap_parts", "launch", "trade", "change", "claim")
LAUNCH = ("contracts", "event", "when", "token", "pool", "price", "nft", *FIELDS)
_MAX_LAUNCHES = 20
HOOK = "hook"
_Declared = TypeVar("_Declared")


def read_launchpad(name: str, table: Mapping[str, Any], key_path: str, refuse: Refuse) -> Launchpad | None:
    """Return a table's launchpad; None if it has mistakes. Each one is reported by `refuse(key_path, rule)`."""
    reader = _LaunchpadReader(refuse)
    launchpad = reader.launchpad(name, table, key_path)
    return None if reader.has_mistakes else launchpad


class _LaunchpadReader(TableReader):
    def launchpad(self, name: str, table: Mapping[str, Any], key_path: str) -> Launchpad:
        self.check(launchpad_name, name, key_path)
        self.check_keys(table, LAUNCHPAD, key_path)
        title = self.text(table.get("title", name), f"{key_path}.title")
        if table.keys() == {"title"}:
            return Launchpad(name=name, title=title)
        senders = self.list(table.get("internal_senders", []), f"{key_path}.internal_senders")
        addresses = [self.address(sender, f"{key_path}.internal_senders") for sender in senders if sender != HOOK]
        launches = self.list(table.get("launch", []), f"{key_path}.launch")
        if not 1 <= len(launches) <= _MAX_LAUNCHES:
            self.refuse(f"{key_path}.launch", f"expected 1 to {_MAX_LAUNCHES} tables [[launchpads.{name}.launch]]")
        declared = tuple(self.tables(launches, f"{key_path}.launch", partial(self._launch, table.get("pool"))))
        has_nfts = any(launch.nft for launch in declared)
        changes = tuple(self._all(table, "change", key_path, partial(read_change, name, has_nfts)))
        claims = tuple(self._all(table, "claim", key_path, partial(read_claim, name, has_nfts)))
        self._check_once((*changes, *claims), key_path)
        kinds = {*(launch.pool for launch in declared), *(change.pool for change in changes)}
        if "trade" in table and declared and "curve" not in kinds:
            # Such trades would have no token, or count twice if a pool emits them beside its swaps.
            rule = 'no launch has pool = "curve": trades in pools of Uniswap are read from the pools'
            self.refuse(f"{key_path}.trade", rule)
        trades = tuple(self._all(table, "trade", key_path, partial(read_trade, name)))
        for signature, count in Counter(trade.event.signature for trade in trades).items():
            if count > 1:
                self.refuse(f"{key_path}.trade", f"{signature} is declared twice")
        for index, launch in enumerate(declared):
            if launch.pool == "curve" and "pool_id" in launch.fields and any(trade.token for trade in trades):
                rule = "expected of a token's own curve only: trades with `token` are with a curve of all tokens"
                self.refuse(f"{key_path}.launch[{index}].pool_id", rule)
        return Launchpad(
            name=name,
            title=title,
            launches=declared,
            internal_senders=frozenset(addresses),
            hook_swaps=HOOK in senders,
            swap_parts=tuple(self._all(table, "swap_parts", key_path, partial(read_swap_part, name))),
            trades=trades,
            changes=changes,
            claims=claims,
        )

    def _check_once(self, declared: Sequence[TokenEventDeclaration], key_path: str) -> None:
        """Refuse events that are declared twice: a log has one meaning."""
        for index, event in enumerate(declared):
            same = (each for each in declared[:index] if each.event.topic0 == event.event.topic0)
            if any(each.subject.emitter == event.subject.emitter for each in same):
                self.refuse(key_path, f"{event.event.signature} is declared twice, as a change or a claim")

    def _all(
        self,
        table: Mapping[str, Any],
        key: str,
        key_path: str,
        read: Callable[[TableReader, Mapping[str, Any], str], _Declared | None],
    ) -> Iterator[_Declared]:
        return self.tables(table.get(key, []), f"{key_path}.{key}", partial(read, self))

    def _launch(self, pool: object, table: Mapping[str, Any], key_path: str) -> LaunchDeclaration | None:
        self.check_keys(table, LAUNCH, key_path)
        kind = next((name for name in POOL_IDS if name == table.get("pool", pool)), None)
        if kind is None:
            self.refuse(f"{key_path}.pool", f"expected one of {', '.join(POOL_IDS)}, here or for the whole launchpad")
        declared = self.event(table, key_path)
        if declared is None:
            return None
        event, values = declared
        types = {**FIELDS, "pool_id": POOL_IDS[kind] if kind else ()}
        fields = {
            name: values.read_all(table[name], f"{key_path}.{name}", types[name]) for name in FIELDS if name in table
        }
        if any(isinstance(value, View) for value in fields.get("pool_id", ())):
            self.refuse(f"{key_path}.pool_id", "expected an argument or { log = ... }: calls come later")
        if kind == "curve" and "quote" not in fields:
            self.refuse(f"{key_path}.quote", "missing: a curve has no event of a pool that has it")
        token = values.token(table.get("token"), f"{key_path}.token")
        if token and Argument(path=token) in fields.get("quote", ()):
            self.refuse(f"{key_path}.quote", "is the launched token: expected the token or coin that it is bought with")
        if "price" in table:
            if kind != "curve":
                self.refuse(f"{key_path}.price", "expected of a curve only: other pools have a price of their own")
            fields |= self._price(table["price"], f"{key_path}.price", values)
        return LaunchDeclaration(
            event=event,
            contracts=self.contracts(table.get("contracts"), f"{key_path}.contracts"),
            token=token,
            conditions=tuple(values.conditions(table.get("when", []), f"{key_path}.when")),
            pool=kind or "v4",
            fields=fields,
            nft=self._nft(table["nft"], f"{key_path}.nft", values) if "nft" in table else None,
        )

    def _price(self, table: object, key_path: str, values: ValueReader) -> dict[str, tuple[Value, ...]]:
        """Return a starting price's two fields; both or neither come from views."""
        price = read_price(self, table, key_path)
        if price is None:
            return {}
        reserves = (
            values.read_all(*price.quote, UNSIGNED),
            values.read_all(*price.token, UNSIGNED) if price.token else (Constant(value=10**price.decimals),),
        )
        if len({isinstance(value, View) for reserve in reserves for value in reserve}) > 1:
            self.refuse(key_path, "expected views of both reserves, or no view")
        return dict(zip(RESERVES, reserves, strict=True))

    def _nft(self, table: object, key_path: str, values: ValueReader) -> LaunchNft | None:
        if (
            not isinstance(table, dict)
            or table.keys() != {"id", "contracts"}
            or not isinstance(table["contracts"], dict)
        ):
            self.refuse(key_path, 'expected { id = ..., contracts = { "0x..." = "0x..." } }: of each contract its NFTs')
            return None
        return LaunchNft(
            id=values.path(table["id"], f"{key_path}.id", UNSIGNED),
            contracts={
                self.address(by, f"{key_path}.contracts.{by}").lower(): self.address(nft, f"{key_path}.contracts.{by}")
                for by, nft in table["contracts"].items()
            },
        )
