"""A simulated chain as the service's installed chain, and the processes that follow it in tests."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from tests.simulator import SimulatedChain
from tests.simulator.comparing import differences
from tokens.chains.evm.evm_chain import Chain
from tokens.following.backfill import RetryDelay
from tokens.following.prefetch import RetryControl
from tokens.installation.installed_chains import installed_chain
from tokens.models import Token

# The finality depth.
DEPTH = 8


def install(chain: SimulatedChain, *urls: str, settings: Any, forget: Callable[[], None], directory: Path) -> Chain:
    """Install the chain with these nodes, DEPTH as finality depth and small ranges; return it."""
    file = directory / "chains.toml"
    file.write_text(f"[chains.{chain.chain_id}]\nfinality_depth = {DEPTH}\n")
    settings.CHAINS_FILES, settings.RPC_URLS = (str(file),), {chain.chain_id: urls}
    settings.FOLLOW_RANGE_BLOCKS, settings.FOLLOW_LONGEST_RANGE_BLOCKS = 10, 40
    # Simulated chains are old.
    settings.CANDLE_MINUTE_DAYS = 100_000
    forget()
    return installed_chain(chain.chain_id)


def final(chain: SimulatedChain) -> int:
    return chain.head.number - DEPTH


def wrong_rows(chain: SimulatedChain, *, to: int) -> list[str]:
    """Return the differences between the rows and the blocks up to this one."""
    return differences(chain.truth(blocks=chain.blocks[: to + 1]), chain_id=chain.chain_id)


def control(stop: Event | None = None) -> RetryControl:
    retry_delay = RetryDelay()
    return RetryControl(stop=stop or Event(), record=retry_delay.record, clear=retry_delay.clear)


def launched() -> int:
    return Token.objects.on_chain().count()
