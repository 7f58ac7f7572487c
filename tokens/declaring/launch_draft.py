"""Draft of a launchpad's declaration, from an ABI and one of its launches. What is guessed has a comment."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.http.errors import PermanentError
from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_views_at_blocks
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.declared_launches import PAIR_CREATED, POOL_CREATED
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED, MinedTransaction
from tokens.chains.evm.transactions.transaction_receipts import read_undecoded
from tokens.chains.rpc.client import RpcClient
from tokens.declaring.abi_files import Fields, FileEvent
from tokens.declaring.recorded_calls import had_code
from tokens.declaring.value_origins import pool_log_text

_TOKEN = codec.load_abi("token")
_NAMING_KEYS = ("name", "symbol")
_NAMING = (_TOKEN.function("name"), _TOKEN.function("symbol"))
# Views of the URI, in the declarations that a draft has.
_URI_VIEWS = tuple(f"function {name}() view returns (string)" for name in ("contractURI", "tokenURI", "uri"))
_LAUNCHES = re.compile("creat|launch|deploy|mint|new", re.I)
_TRADES = re.compile("trad|buy|bought|sell|sold|purchas|swap", re.I)
_TOKENS = re.compile("token|coin|asset", re.I)
_URI = re.compile(r"(https?|ipfs|ar|data):|\{")
_URI_NAMES = re.compile("ur[il]|metadata|meta|cid", re.I)
_IMAGE_NAMES = re.compile("image|logo|img|icon", re.I)
# In the sequence of preference: a caller may be a relayer.
_CREATOR_NAMES = ("creator", "deployer", "owner", "admin", "dev", "author", "user", "payout", "caller", "sender")
# Of a list, as many places as a launch may have owners.
_MOST_PLACES = 3
# Addresses of which code is read.
_MOST_ADDRESSES = 40


class NoLaunchEventError(PermanentError):
    """A transaction in which no event of the ABI names a new token."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftValue:
    """A line of a declaration: its value in TOML, and a comment, which is empty for a certain one."""

    key: str
    value: str
    comment: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchDraft:
    """A proposed declaration."""

    tx_hash: str
    chain_id: int
    emitter: str
    event: FileEvent
    pool: DraftValue
    # EIP-55; None where the pool has none.
    hook: str | None
    # Events of the ABI that may be trades with a curve.
    trades: Sequence[str]
    values: Sequence[DraftValue]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Argument:
    """An argument of an event, or a part of it, with its value."""

    path: str
    type: str
    value: Any

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2] if not self.path[-1].isdecimal() else self.path


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """A log of one of the file's events."""

    event: FileEvent
    log: Log
    arguments: Sequence[_Argument]

    @property
    def emitter(self) -> str:
        return checksum_address(self.log["address"])

    def of_type(self, kind: str) -> list[_Argument]:
        return [argument for argument in self.arguments if argument.type == kind]

    def equal(self, kind: str, value: object) -> list[_Argument]:
        return [argument for argument in self.of_type(kind) if argument.value == value]


@dataclass(kw_only=True)
class _LaunchContracts:
    """Facts about addresses at the launch, each read once."""

    rpc: RpcClient
    block: int
    _had_code: dict[str, bool | None] = field(default_factory=dict)
    _names: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def is_new(self, address: str) -> bool | None:
        """Return whether the address had no code before the launch; None where no node has that state."""
        if address not in self._had_code:
            self._had_code[address] = had_code(self.rpc, address, self.block - 1)
        known = self._had_code[address]
        return None if known is None else not known

    def naming(self, address: str) -> tuple[Any, Any]:
        """Return the name and the symbol that the contract returns; None each where it returns none."""
        if address not in self._names:
            name, symbol = map(_only_value, self.call(address, _NAMING))
            self._names[address] = name, symbol
        return self._names[address]

    def call(self, address: str, functions: Sequence[codec.AbiFunction]) -> list[ViewResult]:
        views = [(ViewCall(contract=address, function=function), self.block) for function in functions]
        return call_views_at_blocks(self.rpc, views)


def draft_launch(chain: Chain, tx_hash: str, events: Sequence[FileEvent]) -> LaunchDraft:
    """Return a declaration of the launch that the transaction made.

    Raises NoLaunchEventError, TransactionNotFoundError, NodeUnavailableError.
    """
    mined = read_undecoded(chain.rpc, chain.info, tx_hash)
    contracts = _LaunchContracts(rpc=chain.rpc, block=mined.block_number)
    candidates = list(_candidates(mined, events))
    tokens = _new_tokens(candidates, contracts)
    rated = [
        (_rate(candidate, token, contracts), candidate, token)
        for candidate in candidates
        for token in candidate.of_type("address")
        if token.value in tokens and token.value != candidate.emitter
    ]
    if not rated:
        names = ", ".join(dict.fromkeys(candidate.event.event.signature for candidate in candidates)) or "none"
        raise NoLaunchEventError(
            f"no event of the ABI names a contract with name() and symbol() that {tx_hash} created; of its events the"
            f" transaction has: {names}"
        )
    _, candidate, token = max(rated, key=lambda each: each[0])
    pool, pool_id, hook = _pool(mined, candidate, token.value)
    trades: tuple[str, ...] = ()
    if pool is None:
        trades = tuple(each.text for each in events if _TRADES.search(each.text.partition("(")[0]))
        pool, pool_id = _unknown_pool(is_curve=bool(trades))
    values = [_token(candidate, token, tokens), *_naming(candidate, contracts.naming(token.value))]
    values += _texts(candidate, token.value, contracts, {value.value for value in values})
    values += [_creator(mined, candidate, token.value), *pool_id]
    return LaunchDraft(
        tx_hash=tx_hash,
        chain_id=chain.info.chain_id,
        emitter=candidate.emitter,
        event=candidate.event,
        pool=pool,
        hook=hook,
        trades=trades,
        values=values,
    )


def _candidates(mined: MinedTransaction, events: Sequence[FileEvent]) -> Iterator[_Candidate]:
    for log in mined.logs:
        for each in events:
            if log["topics"][:1] == [each.event.topic0] and len(log["topics"]) == each.event.indexed + 1:
                try:
                    values = each.event.decode(log)
                except LogDecodingError:
                    continue
                yield _Candidate(event=each, log=log, arguments=tuple(_arguments(each.fields, values)))


def _arguments(fields: Fields, values: Mapping[str, Any], above: str = "") -> Iterator[_Argument]:
    """Yield all arguments and their parts that a path may name."""
    for each in fields:
        path, kind, value = f"{above}{each['name']}", each["type"], values[each["name"]]
        if kind == "tuple":
            yield from _arguments(each["components"], value, f"{path}.")
        elif kind.endswith("[]") and not kind.startswith("tuple"):
            for place, item in enumerate(value[:_MOST_PLACES]):
                yield _Argument(path=f"{path}.{place}", type=kind[:-2], value=item)
        else:
            yield _Argument(path=path, type=kind, value=value)


def _new_tokens(candidates: Sequence[_Candidate], contracts: _LaunchContracts) -> frozenset[str]:
    """Return the addresses that events name and that the transaction made contracts with name and symbol."""
    named = dict.fromkeys(
        argument.value
        for candidate in candidates
        for argument in candidate.of_type("address")
        if argument.value != ZERO_ADDRESS
    )
    return frozenset(
        address
        for address in list(named)[:_MOST_ADDRESSES]
        if contracts.is_new(address) is not False and all(contracts.naming(address))
    )


def _rate(candidate: _Candidate, token: _Argument, contracts: _LaunchContracts) -> tuple[bool, bool, int, bool, bool]:
    """Return how likely the event is that of launches, and the argument its token."""
    texts = [text for text in candidate.of_type("string") if text.value in contracts.naming(token.value)]
    return (
        # Contracts that a launch makes are no factory.
        contracts.is_new(candidate.emitter) is not True,
        bool(_LAUNCHES.search(candidate.event.event.signature.partition("(")[0])),
        len(texts),
        bool(_TOKENS.search(token.name)),
        len(candidate.arguments) > len(candidate.of_type("address")),
    )


def _token(candidate: _Candidate, token: _Argument, tokens: frozenset[str]) -> DraftValue:
    others = [each.path for each in candidate.of_type("address") if each.value in tokens - {token.value}]
    comment = f"guessed: {', '.join(others)} is a new token, too" if others else ""
    return _quoted("token", token.path, comment)


def _naming(candidate: _Candidate, naming: tuple[Any, Any]) -> Iterator[DraftValue]:
    """Yield the arguments that equal the contract's name and symbol; without one, the decoder calls the views."""
    for key, value in zip(_NAMING_KEYS, naming, strict=True):
        other = _NAMING_KEYS[1 - _NAMING_KEYS.index(key)]
        # Of a token whose name is its symbol.
        if equal := [each for each in candidate.equal("string", value) if other not in each.name.lower()]:
            best = next((argument for argument in equal if key in argument.name.lower()), equal[0])
            comment = f"guessed: {len(equal)} arguments equal {key}()" if len(equal) > 1 else ""
            yield _quoted(key, best.path, comment)


def _texts(candidate: _Candidate, token: str, contracts: _LaunchContracts, used: set[str]) -> Iterator[DraftValue]:
    texts = [each for each in candidate.of_type("string") if f'"{each.path}"' not in used]
    images = [each for each in texts if _IMAGE_NAMES.search(each.name)]
    uris = [each for each in texts if each not in images and (_URI.match(each.value) or _URI_NAMES.search(each.name))]
    if uris:
        yield _quoted("uri", uris[0].path, "guessed: by its name or its value")
    else:
        functions = [codec.declared_function(text) for text in _URI_VIEWS]
        for text, result in zip(_URI_VIEWS, contracts.call(token, functions), strict=True):
            if _only_value(result):
                yield DraftValue(key="uri", value=f'{{ call = "{text}" }}', comment="guessed: the token's view")
                break
    if images:
        yield _quoted("image", images[0].path, "guessed: by its name")


def _creator(mined: MinedTransaction, candidate: _Candidate, token: str) -> DraftValue:
    accounts = [each for each in candidate.of_type("address") if each.value not in (token, ZERO_ADDRESS)]
    for name in _CREATOR_NAMES:
        for argument in accounts:
            if name in argument.name.lower():
                sent = ", and it sent the transaction" if argument.value == mined.call.sender else ""
                return _quoted("creator", argument.path, f"guessed: by its name{sent}")
    return DraftValue(key="creator", value='{ tx = "from" }', comment="guessed: no argument has the name of a creator")


def _pool(
    mined: MinedTransaction, candidate: _Candidate, token: str
) -> tuple[DraftValue | None, list[DraftValue], str | None]:
    """Return the kind of the token's pool, None without one, the argument that has its id, and its hook."""
    kinds = (
        ("v4", POOL_INITIALIZED, mined.chain.v4_pool_manager, ("id", "currency0", "currency1")),
        ("v3", POOL_CREATED, mined.chain.v3_factory, ("pool", "token0", "token1")),
        ("v2", PAIR_CREATED, mined.chain.v2_factory, ("pair", "token0", "token1")),
    )
    for kind, event, emitter, (key, first, second) in kinds:
        for log in mined.emitted(event, by=emitter):
            made = event.decode(log)
            if token in (made[first], made[second]):
                paths = [path for path_type in ("bytes32", "address") for path in candidate.equal(path_type, made[key])]
                ids = [_quoted("pool_id", path.path) for path in paths[:1]]
                hook = made.get("hooks", ZERO_ADDRESS)
                # A curve may graduate into a pair that is created with the token.
                guess = 'guessed: "curve" if trades begin on a bonding curve; ' if kind == "v2" else ""
                return _quoted("pool", kind, guess + pool_log_text(log)), ids, None if hook == ZERO_ADDRESS else hook
    return None, [], None


def _unknown_pool(*, is_curve: bool) -> tuple[DraftValue, list[DraftValue]]:
    """Return what to propose where the launch makes no pool of the token."""
    if not is_curve:
        return _quoted("pool", "v4", "guessed: the transaction makes no pool of the token"), []
    quote = _quoted("quote", "native", "guessed: the chain's coin")
    return _quoted("pool", "curve", "guessed: no pool is made, and the ABI has events of trades"), [quote]


def _quoted(key: str, text: str, comment: str = "") -> DraftValue:
    return DraftValue(key=key, value=f'"{text}"', comment=comment)


def _only_value(result: ViewResult) -> Any:
    return next(iter(result.values())) if result else None


def draft_lines(draft: LaunchDraft, *, name: str) -> Iterator[str]:
    """Yield the lines of a TOML file with the draft as the launchpad of this name."""
    yield f"# Drafted from {draft.tx_hash}, chain {draft.chain_id}. Check what is guessed, then run"
    yield f"# manage.py try_launchpad FILE --tx {draft.tx_hash} --chain {draft.chain_id}"
    yield f"[launchpads.{name}]"
    yield _line(_quoted("title", name, "guessed: from the file's name"))
    yield _line(draft.pool)
    if draft.hook:
        yield f"# The pool's hook is {draft.hook}. If it swaps in the pool itself (try a sale by --trade):"
        yield '# internal_senders = ["hook"]'
    yield ""
    yield f"[[launchpads.{name}.launch]]"
    yield f'contracts = {{ {draft.chain_id} = ["{draft.emitter}"] }}'
    yield _line(_quoted("event", draft.event.text))
    yield from map(_line, draft.values)
    for event in draft.trades:
        yield ""
        yield "# Trades with the curve: name the arguments. A sale has token_in and quote_out instead."
        yield "# Optional: is_buy, fee and price."
        yield f"# [[launchpads.{name}.trade]]"
        yield f'# event = "{event}"'
        yield from (f'# {key} = ""' for key in ("token", "trader", "quote_in", "token_out"))


def launchpad_name(stem: str, taken: Collection[str]) -> str:
    """Return a name for the launchpad, from that of its ABI's file; none of those that are taken."""
    name = re.sub("[^a-z0-9]+", "_", stem.lower()).strip("_")[:24]
    return name if re.match("[a-z]", name) and name not in taken else f"own_{name}"


def _line(value: DraftValue) -> str:
    return f"{value.key} = {value.value}" + (f"  # {value.comment}" if value.comment else "")
