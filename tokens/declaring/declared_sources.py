"""An author's file on its chain: launchpads, launch events with their place in the file, and the contracts' logs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from django.conf import settings

from config.http.errors import PermanentError
from tokens.chains.abi.codec import AbiEvent, Log, declared_event
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import BUILT_IN_FILE, ChainInfo, load_registry
from tokens.chains.registry.toml_files import read_registry_files
from tokens.chains.types import Launch
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import DefaultFor, default_chain

# A log's lower-case address and its topic0.
Source = tuple[str, str]
_Declared = TypeVar("_Declared")
# Every token emits them.
_OF_TOKENS = frozenset(
    declared_event(f"{name}(address indexed from, address indexed to, uint256 value)").topic0
    for name in ("Transfer", "Approval")
)


class NothingDeclaredError(PermanentError):
    """A file that declares no launchpad, or none on the chain."""


def chain_with(file: Path, *, chain_id: int | None) -> Chain:
    """Return a chain with its nodes, on which only the file's launchpads are indexed.

    Without an id it is the only chain in `contracts`, else the default one. Raises RegistryError with every mistake in
    the file, NothingDeclaredError and UnsupportedChainError.
    """
    files = (*map(Path, settings.CHAINS_FILES), file)
    launchpads = read_registry_files(BUILT_IN_FILE, *files)[-1].launchpads
    if not launchpads:
        raise NothingDeclaredError(f"{file}: has no table [launchpads.<name>]")
    chain_ids = sorted({key for pad in launchpads.values() for launch in pad.launches for key in launch.contracts})
    if chain_id is None:
        is_clear = len(chain_ids) == 1
        chain_id = chain_ids[0] if is_clear else default_chain(DefaultFor.EVM_ADDRESS).chain_id
    if chain_id not in chain_ids:
        named = ", ".join(map(str, chain_ids))
        raise NothingDeclaredError(f"{file}: `contracts` has no chain {chain_id}: it has {named}; name one by --chain")
    registry = load_registry(*files, solana_chain_id=settings.SOLANA_CHAIN_ID, launchpads={chain_id: tuple(launchpads)})
    return replace(installed_chain(chain_id), info=registry.chain(chain_id))


def source_of(log: Log) -> Source:
    """Return a log's emitter and topic0; an empty topic if it has none."""
    return log["address"].lower(), next(iter(log["topics"]), "")


def placed_declarations(chain: ChainInfo) -> Iterator[tuple[str, DeclaredLaunch]]:
    """Yield the chain's declared launches with their place in the file, such as `launchpads.zora.launch[0]`."""
    for pad in chain.launchpads:
        for index, declaration in enumerate(pad.launches):
            if chain.chain_id in declaration.contracts:
                declared = DeclaredLaunch(launchpad=pad, declaration=declaration)
                yield f"launchpads.{pad.name}.launch[{index}]", declared


def launch_sources(chain: ChainInfo) -> Mapping[Source, AbiEvent]:
    """Return the declared launch events by the contracts that emit them."""
    return {
        (contract.lower(), declared.declaration.event.topic0): declared.declaration.event
        for _, declared in placed_declarations(chain)
        for contract in declared.declaration.contracts[chain.chain_id]
    }


def trusted_emitters(chain: ChainInfo) -> frozenset[str]:
    """Return the contracts that the declarations name, in lower case."""
    return frozenset(address for pad in chain.launchpads for address in pad.emitters(chain.chain_id))


def named_events(chain: ChainInfo) -> Mapping[Source, AbiEvent]:
    """Return the trusted emitters' events that the declarations name."""
    others = {
        (emitter, event.topic0): event
        for pad in chain.launchpads
        for emitter in pad.emitters(chain.chain_id)
        for launch in pad.launches
        for event in (value.event for value in launch.other_logs)
    }
    parts = {source: first.event for source, (first, *_) in chain.swap_parts.items()}
    trades = {source: first.event for source, (first, *_) in chain.curve_trades.items()}
    later = {source: first.event for source, (first, *_) in chain.token_events.items()}
    return {**others, **parts, **trades, **later, **launch_sources(chain)}


def declarations_of(mined: MinedTransaction, log: Log) -> Iterator[tuple[str, DeclaredLaunch]]:
    """Yield the launches that a log may be by its emitter and topic0, each with its place in the file."""
    emitter, topic0 = source_of(log)
    for key_path, declared in placed_declarations(mined.chain):
        contracts = declared.declaration.contracts[mined.chain.chain_id]
        if topic0 == declared.declaration.event.topic0 and emitter in map(str.lower, contracts):
            yield key_path, declared


def find_value_events(mined: MinedTransaction) -> Iterator[tuple[Source, AbiEvent]]:
    """Yield the other logs' events that have values of the transaction's launches; arguments may name the emitters."""
    for log in mined.logs:
        for _, declared in declarations_of(mined, log):
            try:
                scope = declared.scope(mined, log)
            except LogDecodingError:
                # Reported as a layout mistake.
                continue
            for value in declared.declaration.other_logs:
                yield (str(scope.target(value.emitter)).lower(), value.event.topic0), value.event


def own_contracts(launches: Sequence[Launch]) -> frozenset[str]:
    """Return the launches' tokens, curves, pools and hooks, which no declaration names, in lower case."""
    pools = [launch.pool for launch in launches if launch.pool]
    named = (
        *(launch.token for launch in launches),
        *(launch.next_pool for launch in launches),
        *(address for pool in pools for address in (pool.address, pool.hook)),
    )
    return frozenset(address.lower() for address in named if address)


def declared_for(log: Log, declared: Mapping[Source, _Declared], *, own: Collection[str]) -> _Declared | None:
    """Return a log's declaration by its emitter; `own` are the launches' `own_contracts`, in lower case."""
    emitter, topic0 = source_of(log)
    return declared.get((emitter, topic0)) or (declared.get(("", topic0)) if emitter in own else None)


def count_unnamed(
    chain: ChainInfo, transactions: Sequence[MinedTransaction], launches: Sequence[Launch]
) -> list[tuple[Log, int]]:
    """Return logs that no declaration names, by trusted emitters and by the launches' own curves.

    Only the first log for each emitter and topic0 is returned, with the number of such logs.
    """
    values = {source: event for mined in transactions for source, event in find_value_events(mined)}
    named, own = {**values, **named_events(chain)}, own_contracts(launches)
    emitters, curves = trusted_emitters(chain), _own_curves(chain, launches)
    unnamed = []
    for log in (log for mined in transactions for log in mined.logs):
        emitter, topic0 = source_of(log)
        is_trusted = emitter in emitters or (emitter in curves and topic0 not in _OF_TOKENS)
        if is_trusted and declared_for(log, named, own=own) is None:
            unnamed.append(log)
    counts = Counter(map(source_of, unnamed))
    first = {source_of(log): log for log in reversed(unnamed)}
    return [(first[source], counts[source]) for source in counts]


def _own_curves(chain: ChainInfo, launches: Sequence[Launch]) -> frozenset[str]:
    """Return curves that are separate contracts, in lower case; a token may be its own curve."""
    may_be_tokens = any(not emitter for emitter, _ in chain.curve_trades)
    return frozenset(
        launch.pool.address.lower()
        for launch in launches
        if launch.curve_config and launch.pool and launch.pool.address
        if may_be_tokens or launch.pool.address != launch.token
    )
