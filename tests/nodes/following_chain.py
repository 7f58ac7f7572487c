"""A simulated chain as the service has it installed, and what follows it in tests."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from tests.simulator import SimulatedChain
from tests.simulator.comparing import differences
from tokens.chains.protocols import Chain
from tokens.following.backfill import Patience
from tokens.following.prefetch import Watch
from tokens.installation.installed_chains import installed_chain
from tokens.models import Token

# Blocks on top of one that is final.
DEPTH = 8


def install(chain: SimulatedChain, *urls: str, settings: Any, forget: Callable[[], None], place: Path) -> Chain:
    """The chain with these nodes, final after DEPTH blocks, and asked by small ranges."""
    file = place / "chains.toml"
    file.write_text(f"[chains.{chain.chain_id}]\nfinality_depth = {DEPTH}\n")
    settings.CHAINS_FILES, settings.RPC_URLS = (str(file),), {chain.chain_id: urls}
    settings.FOLLOW_RANGE_BLOCKS, settings.FOLLOW_LONGEST_RANGE_BLOCKS = 10, 40
    forget()
    return installed_chain(chain.chain_id)


def final(chain: SimulatedChain) -> int:
    return chain.head.number - DEPTH


def wrong_rows(chain: SimulatedChain, *, to: int) -> list[str]:
    """What the rows have otherwise than the blocks up to this one."""
    return differences(chain.truth(blocks=chain.blocks[: to + 1]), chain_id=chain.chain_id)


def watch(stop: Event | None = None) -> Watch:
    patience = Patience()
    return Watch(stop=stop or Event(), note=patience.note, clear=patience.clear)


def launched() -> int:
    return Token.objects.on_chain().count()
