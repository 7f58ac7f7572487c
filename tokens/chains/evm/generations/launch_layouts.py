"""Launch event layouts by emitter and topic0: compiled for v0 to v4, and declared by other launchpads."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.abi.paths import Path
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.evm.generations.mined_transactions import MinedTransaction, Source
from tokens.chains.evm.generations.v0_to_v3_1.uniswap_v3_launches import decode_v0, decode_v1_to_v3, decode_v3_1
from tokens.chains.evm.generations.v4.uniswap_v4_launches import decode_v4
from tokens.chains.registry.chains import ChainInfo, Generation
from tokens.chains.types import Launch

_Decode = Callable[[MinedTransaction, Log, AbiEvent, Generation], Launch]

# The layouts that the registry's `event` names. v1 and v2 share one: only the emitting address distinguishes them.
_COMPILED: Mapping[str, tuple[AbiEvent, _Decode]] = {
    "v0": (codec.load_abi("v0").event("TokenCreated"), decode_v0),
    "v1": (codec.load_abi("v1").event("TokenCreated"), decode_v1_to_v3),
    "v3": (codec.load_abi("v3").event("TokenCreated"), decode_v1_to_v3),
    "v3_1": (codec.load_abi("v3_1").event("TokenCreated"), decode_v3_1),
    "v4": (codec.load_abi("v4").event("TokenCreated"), decode_v4),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchLayout:
    """Layout of one emitter's launch event."""

    launchpad: str
    event: AbiEvent
    # Path to the argument that has the launched token.
    token: Path
    # Number of conditions that a log must meet to be a launch.
    conditions: int
    # Returns None for a log that is no launch. Raises LogDecodingError, and FullTransactionRequiredError if the
    # available logs are insufficient.
    decode: Callable[[MinedTransaction, Log], Launch | None]

    @property
    def is_conditional(self) -> bool:
        """Whether a log with this event may be no launch."""
        return self.conditions > 0


# Lower-case emitter and topic0 -> layouts. The first layout whose conditions hold counts. Layouts with the most
# conditions come first, so that the more special launchpad has the launch.
LaunchLayouts = Mapping[Source, tuple[LaunchLayout, ...]]


def created_event(generation: Generation) -> AbiEvent:
    """Return the launch event that a generation's factories emit."""
    return _COMPILED[generation.event][0]


@cache
def launch_layouts(chain: ChainInfo) -> LaunchLayouts:
    """Return the layouts of a chain's launch events."""
    by_source: defaultdict[Source, list[LaunchLayout]] = defaultdict(list)
    for address, layout in _layouts(chain):
        by_source[address, layout.event.topic0].append(layout)
    return {key: tuple(sorted(layouts, key=lambda layout: -layout.conditions)) for key, layouts in by_source.items()}


def _layouts(chain: ChainInfo) -> Iterator[tuple[str, LaunchLayout]]:
    for address, generation in chain.factories.items():
        yield address, _compiled(generation)
    for launchpad in chain.launchpads:
        for declaration in launchpad.launches:
            declared = DeclaredLaunch(launchpad=launchpad, declaration=declaration)
            for contract in declaration.contracts.get(chain.chain_id, ()):
                yield (
                    contract.lower(),
                    LaunchLayout(
                        launchpad=launchpad.name,
                        event=declaration.event,
                        token=declaration.token,
                        conditions=len(declaration.conditions),
                        decode=declared.decode,
                    ),
                )


def _compiled(generation: Generation) -> LaunchLayout:
    event, decode = _COMPILED[generation.event]

    def decode_as(mined: MinedTransaction, log: Log) -> Launch:
        return decode(mined, log, event, generation)

    return LaunchLayout(
        launchpad=generation.launchpad, event=event, token=("tokenAddress",), conditions=0, decode=decode_as
    )
