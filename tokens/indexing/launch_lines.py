"""Launches as lines of COPY. Pure: threads that read a chain make them while another one waits for PostgreSQL."""

from collections.abc import Iterable
from dataclasses import dataclass

from config.postgresql.copy_text import copy_line
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing.fact_json import launch_facts
from tokens.indexing.launch_rows import token_columns
from tokens.installation.installed_chains import registry

# What tells a launch from all others: its transaction, the index of its log, and its block.
LaunchKey = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """The columns of a token and, as `facts`, what they are folded from."""

    columns: tuple[str, ...]
    line: bytes
    # Whose profile is wanted.
    requestor_fid: int | None


def launch_key(launch: Launch) -> LaunchKey:
    """The launch's place on its chain."""
    return launch.tx_hash, launch.log_index, launch.block_hash


def make_line(launch: Launch, *, chain: ChainInfo) -> LaunchLine:
    """The line of one launch."""
    row = token_columns(launch, chain=chain, presets=registry().presets.values())
    fid: int | None = row["requestor_fid"]
    row["facts"] = launch_facts(launch)
    return LaunchLine(tuple(row), copy_line(row).encode(), fid)


def make_lines(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> dict[LaunchKey, LaunchLine]:
    """The lines of all launches of transactions."""
    return {launch_key(launch): make_line(launch, chain=chain) for facts in transactions for launch in facts.launches}
