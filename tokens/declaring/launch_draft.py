"""Draft declaration for a launchpad, from an ABI and one launch. Guessed values have a comment."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.http.errors import PermanentError
from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_views_at_blocks
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.transactions.transaction_receipts import read_undecoded
from tokens.chains.rpc.client import RpcClient
from tokens.declaring.abi_files import FileEvent
from tokens.declaring.draft_values import (
    TOKEN_NAMES,
    DraftTable,
    DraftValue,
    EventArgument,
    FileLog,
    find_file_logs,
    first_named,
    quoted,
)
from tokens.declaring.later_drafts import DraftedLaunch, draft_later, find_quote, is_trade
from tokens.declaring.made_pools import MadePool, find_made_pools
from tokens.declaring.missing_abis import find_missing_abis
from tokens.declaring.recorded_calls import had_code

_TOKEN = codec.load_abi("token")
_NAMING_KEYS = ("name", "symbol")
_NAMING = (_TOKEN.function("name"), _TOKEN.function("symbol"))
# Views that may return the URI, as a declaration writes them.
_URI_VIEWS = tuple(f"function {name}() view returns (string)" for name in ("contractURI", "tokenURI", "uri"))
_LAUNCHES = re.compile("creat|launch|deploy|mint|new", re.I)
_URI = re.compile(r"(https?|ipfs|ar|data):|\{")
_URI_NAMES = re.compile("ur[il]|metadata|meta|cid", re.I)
_IMAGE_NAMES = re.compile("image|logo|img|icon", re.I)
# The preferred names first: a caller may be a relayer.
_CREATOR_NAMES = ("creator", "deployer", "owner", "admin", "dev", "author", "user", "payout", "caller", "sender")
# The most addresses whose code is read.
_MOST_ADDRESSES = 40


class NoLaunchEventError(PermanentError):
    """A transaction in which no ABI event names a new token."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchDraft:
    """A proposed declaration."""

    tx_hash: str
    chain_id: int
    # The factory, and curves that several tokens share; EIP-55.
    contracts: Sequence[str]
    event: FileEvent
    pool: DraftValue
    # EIP-55; None where the pool has none.
    hook: str | None
    values: Sequence[DraftValue]
    # Trades with a curve, changes and claims.
    later: Sequence[DraftTable]
    # Events that no ABI has, in words.
    missing_abis: Sequence[str]


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
        existed = self._had_code[address]
        return None if existed is None else not existed

    def naming(self, address: str) -> tuple[Any, Any]:
        """Return the name and the symbol that the contract returns; None each where it returns none."""
        if address not in self._names:
            name, symbol = map(_only_value, self.call(address, _NAMING))
            self._names[address] = name, symbol
        return self._names[address]

    def call(self, address: str, functions: Sequence[codec.AbiFunction]) -> list[ViewResult]:
        views = [(ViewCall(contract=address, function=function), self.block) for function in functions]
        return call_views_at_blocks(self.rpc, views)


def draft_launch(chain: Chain, tx_hash: str, events: Sequence[FileEvent], *, trades: Sequence[str] = ()) -> LaunchDraft:
    """Return a declaration for the transaction's launch.

    `trades` are hashes of further transactions: their logs show the arguments of trade, change and claim events.

    Raises NoLaunchEventError, TransactionNotFoundError, NodeUnavailableError.
    """
    mined = read_undecoded(chain.rpc, chain.info, tx_hash)
    contracts = _LaunchContracts(rpc=chain.rpc, block=mined.block_number)
    further = [read_undecoded(chain.rpc, chain.info, trade) for trade in trades]
    logs = [log for each in (mined, *further) for log in find_file_logs(each, events)]
    candidates = [log for log in logs if log.mined is mined]
    tokens = _new_tokens(candidates, contracts)
    candidate, token = _likeliest(candidates, tokens, contracts, tx_hash)
    trusted = (each for each in find_made_pools(mined) if each.is_trusted)
    new_pool = next((each for each in trusted if token.value in each.currencies), None)
    trade_logs = [log for log in logs if is_trade(log.event) and not (new_pool and log.emitter == new_pool.id)]
    # A contract that several tokens share is no token's own curve.
    own = [log for log in trade_logs if contracts.is_new(log.emitter) is not False]
    pool, *pool_values = _pool_values(new_pool, candidate, own, find_quote(token.value, trade_logs), events)
    values = [_token(candidate, token, tokens), *_naming(candidate, contracts.naming(token.value))]
    values += _texts(candidate, token.value, contracts, {value.value for value in values})
    values += [_creator(mined, candidate, token.value), *pool_values]
    ids = [value.value.strip('"') for value in pool_values if value.key == "pool_id"]
    kind, pool_id = pool.value.strip('"'), next((each.value for each in candidate.arguments if each.path in ids), None)
    # Trades count by the launch's contracts, or by the token's own curve.
    curves = [log.emitter for log in trade_logs if kind == "curve" and log.equal("address", token.value)]
    launched = DraftedLaunch(
        chain=chain.info,
        token=token.value,
        contracts=tuple(dict.fromkeys([candidate.emitter, *(curve for curve in curves if curve != pool_id)])),
        kind=kind,
        pool=pool_id or (new_pool and new_pool.id),
        hook=new_pool and new_pool.hook,
        has_pair=bool(new_pool and new_pool.kind == "v2"),
    )
    new_contracts = {each.value for each in candidate.of_type("address") if contracts.is_new(each.value) is not False}
    return LaunchDraft(
        tx_hash=tx_hash,
        chain_id=chain.info.chain_id,
        contracts=launched.contracts,
        event=candidate.event,
        pool=pool,
        hook=new_pool and new_pool.hook,
        values=values,
        later=tuple(draft_later(launched, [each for each in events if each is not candidate.event], logs)),
        missing_abis=tuple(find_missing_abis(launched, (mined, *further), events, own=new_contracts)),
    )


def _likeliest(
    candidates: Sequence[FileLog], tokens: Collection[str], contracts: _LaunchContracts, tx_hash: str
) -> tuple[FileLog, EventArgument]:
    """Return the log that is most likely the launch, and its argument with the token. Raises NoLaunchEventError."""
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
    return candidate, token


def _new_tokens(candidates: Sequence[FileLog], contracts: _LaunchContracts) -> frozenset[str]:
    """Return new contracts with a name and a symbol that events name."""
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


def _rate(candidate: FileLog, token: EventArgument, contracts: _LaunchContracts) -> tuple[bool, bool, int, bool, bool]:
    """Return a sort key: how likely the event is a launch event, and the argument its token."""
    texts = [text for text in candidate.of_type("string") if text.value in contracts.naming(token.value)]
    return (
        # Contracts that a launch makes are no factory.
        contracts.is_new(candidate.emitter) is not True,
        bool(_LAUNCHES.search(candidate.event.event.signature.partition("(")[0])),
        len(texts),
        bool(TOKEN_NAMES.search(token.name)),
        len(candidate.arguments) > len(candidate.of_type("address")),
    )


def _token(candidate: FileLog, token: EventArgument, tokens: frozenset[str]) -> DraftValue:
    others = [each.path for each in candidate.of_type("address") if each.value in tokens - {token.value}]
    comment = f"guessed: {', '.join(others)} is a new token, too" if others else ""
    return quoted("token", token.path, comment)


def _naming(candidate: FileLog, naming: tuple[Any, Any]) -> Iterator[DraftValue]:
    """Yield the arguments that equal the contract's name and symbol; without one, the decoder calls the views."""
    for key, value in zip(_NAMING_KEYS, naming, strict=True):
        other = _NAMING_KEYS[1 - _NAMING_KEYS.index(key)]
        # A token's name may equal its symbol.
        if equal := [each for each in candidate.equal("string", value) if other not in each.name.lower()]:
            best = next((argument for argument in equal if key in argument.name.lower()), equal[0])
            comment = f"guessed: {len(equal)} arguments equal {key}()" if len(equal) > 1 else ""
            yield quoted(key, best.path, comment)


def _texts(candidate: FileLog, token: str, contracts: _LaunchContracts, used: set[str]) -> Iterator[DraftValue]:
    texts = [each for each in candidate.of_type("string") if f'"{each.path}"' not in used]
    images = [each for each in texts if _IMAGE_NAMES.search(each.name)]
    uris = [each for each in texts if each not in images and (_URI.match(each.value) or _URI_NAMES.search(each.name))]
    if uris:
        yield quoted("uri", uris[0].path, "guessed: by its name or its value")
    else:
        functions = [codec.declared_function(text) for text in _URI_VIEWS]
        for text, result in zip(_URI_VIEWS, contracts.call(token, functions), strict=True):
            if _only_value(result):
                yield DraftValue(key="uri", value=f'{{ call = "{text}" }}', comment="guessed: the token's view")
                break
    if images:
        yield quoted("image", images[0].path, "guessed: by its name")


def _creator(mined: MinedTransaction, candidate: FileLog, token: str) -> DraftValue:
    accounts = [each for each in candidate.of_type("address") if each.value not in (token, ZERO_ADDRESS)]
    if argument := first_named(accounts, _CREATOR_NAMES):
        sent = ", and it sent the transaction" if argument.value == mined.call.sender else ""
        return quoted("creator", argument.path, f"guessed: by its name{sent}")
    return DraftValue(key="creator", value='{ tx = "from" }', comment="guessed: no argument has the name of a creator")


def _pool_values(
    pool: MadePool | None, candidate: FileLog, own: Sequence[FileLog], quote: str | None, events: Sequence[FileEvent]
) -> Iterator[DraftValue]:
    """Yield the launch pool's kind, a curve's quote token, and the argument with the pool's id.

    `own` are trades by contracts that the launch may have created.
    """
    curves = [(curve, log) for log in own for curve in candidate.equal("address", log.emitter)]
    if curves or (pool is None and any(map(is_trade, events))):
        guess = "guessed: no pool is made, and the ABI has events of trades"
        yield quoted("pool", "curve", f"it trades by {curves[0][1].label}" if curves else guess)
        guess = "guessed: it moves in a trade" if quote else "guessed: the chain's coin"
        yield quoted("quote", quote or "native", guess)
        yield from [quoted("pool_id", curve.path) for curve, _ in curves[:1]]
    elif pool is None:
        yield quoted("pool", "v4", "guessed: no pool is made; for a curve, add a purchase by --trade")
    else:
        # A curve may graduate into a pair that is created with the token.
        guess = 'guessed: "curve" if trades begin on a bonding curve; ' if pool.kind == "v2" else ""
        yield quoted("pool", pool.kind, guess + pool.text)
        paths = [path for kind in ("bytes32", "address") for path in candidate.equal(kind, pool.id)]
        yield from [quoted("pool_id", path.path) for path in paths[:1]]


def _only_value(result: ViewResult) -> Any:
    return next(iter(result.values())) if result else None


def draft_lines(draft: LaunchDraft, *, name: str) -> Iterator[str]:
    """Yield the lines of a TOML file with the draft, under the launchpad's name."""
    yield f"# Drafted from {draft.tx_hash}, chain {draft.chain_id}. Check what is guessed, then run"
    yield f"# manage.py try_launchpad FILE --tx {draft.tx_hash} --chain {draft.chain_id}"
    yield f"[launchpads.{name}]"
    yield quoted("title", name, "guessed: from the file's name").line()
    yield draft.pool.line()
    if draft.hook:
        yield f"# The pool's hook is {draft.hook}. If it swaps in the pool itself (try a sale by --trade):"
        yield '# internal_senders = ["hook"]'
    yield ""
    yield f"[[launchpads.{name}.launch]]"
    contracts = ", ".join(f'"{contract}"' for contract in draft.contracts)
    comment = "guessed: the later ones emit trades" if len(draft.contracts) > 1 else ""
    yield DraftValue(key="contracts", value=f"{{ {draft.chain_id} = [{contracts}] }}", comment=comment).line()
    yield quoted("event", draft.event.text).line()
    yield from (value.line() for value in draft.values)
    for table in draft.later:
        yield ""
        yield from table.lines(name)
    if draft.missing_abis:
        yield ""
        yield from (f"# {line}" for line in draft.missing_abis)


def launchpad_name(stem: str, reserved: Collection[str]) -> str:
    """Return a launchpad name from the ABI file's name (`stem`), with a prefix if that name is reserved."""
    name = re.sub("[^a-z0-9]+", "_", stem.lower()).strip("_")[:24]
    return name if re.match("[a-z]", name) and name not in reserved else f"own_{name}"
