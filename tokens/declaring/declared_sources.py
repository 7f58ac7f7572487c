"""An author's file on its chain: the launchpads, their launch events with places, and logs of their contracts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from config.http.errors import PermanentError
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.registry.chains import BUILT_IN_FILE, ChainInfo, load_registry
from tokens.chains.registry.toml_files import read_registry_files
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import default_evm_chain

# Lower-case address and topic0 of a log.
Source = tuple[str, str]


class NothingDeclaredError(PermanentError):
    """A file that declares no launchpad, or none on the chain."""


def chain_with(file: Path, *, chain_id: int | None) -> Chain:
    """Return a chain with its nodes, of which only the file's launchpads are indexed.

    Without an id it is the only chain of the file's contracts, else the default one. Raises RegistryError with every
    mistake of the file, NothingDeclaredError and UnsupportedChainError.
    """
    files = (*map(Path, settings.CHAINS_FILES), file)
    launchpads = read_registry_files(BUILT_IN_FILE, *files)[-1].launchpads
    if not launchpads:
        raise NothingDeclaredError(f"{file}: has no table [launchpads.<name>]")
    of_contracts = sorted({key for pad in launchpads.values() for launch in pad.launches for key in launch.contracts})
    if chain_id is None:
        chain_id = of_contracts[0] if len(of_contracts) == 1 else default_evm_chain().chain_id
    if chain_id not in of_contracts:
        named = ", ".join(map(str, of_contracts))
        raise NothingDeclaredError(f"{file}: `contracts` has no chain {chain_id}: it has {named}; name one by --chain")
    registry = load_registry(*files, solana_chain_id=settings.SOLANA_CHAIN_ID, launchpads={chain_id: tuple(launchpads)})
    return replace(installed_chain(chain_id), info=registry.chain(chain_id))


def source_of(log: Log) -> Source:
    """Return the emitter and topic0 of a log; an empty topic where it has none."""
    return log["address"].lower(), next(iter(log["topics"]), "")


def placed_declarations(chain: ChainInfo) -> Iterator[tuple[str, DeclaredLaunch]]:
    """Yield each declared launch of the chain with its place in the file, such as `launchpads.zora.launch[0]`."""
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
    """Return the lower-case addresses of the contracts that the declarations name."""
    return frozenset(address for pad in chain.launchpads for address in pad.emitters(chain.chain_id))


def named_events(chain: ChainInfo) -> Mapping[Source, AbiEvent]:
    """Return the events of trusted emitters that the declarations name."""
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


def unnamed_logs(chain: ChainInfo, logs: Sequence[Log]) -> Iterator[Log]:
    """Yield the logs of trusted emitters that no declaration names."""
    named, emitters = named_events(chain), trusted_emitters(chain)
    for log in logs:
        if log["address"].lower() in emitters and source_of(log) not in named:
            yield log
