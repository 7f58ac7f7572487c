"""A recorded launchpad's chain, installed behind a node, and the rows that are read from it."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from config.redis.connection import redis_client
from tests.nodes.launchpad_recordings import CHAIN, RECORDINGS, add_empty_block, load_recording, name_of, write_registry
from tests.nodes.log_encoding import LogEntry, log_json
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import Json
from tokens.chains.evm.transactions.transaction_receipts import read_transaction
from tokens.chains.types import TransactionFacts
from tokens.indexing import chain_lock
from tokens.indexing.unwinding import UnwindCounts, unwind_blocks
from tokens.indexing.writing import WriteCounts, write_transactions
from tokens.installation.installed_chains import installed_chain


class InstalledRecording:
    """A recording, which a test may change before it installs it."""

    def __init__(self, name: str) -> None:
        (path,) = (path for path in RECORDINGS if path.stem == name)
        self.recording = load_recording(path)
        self.expected: Json = self.recording["expected"]
        self.numbers = [int(entry["block"]["number"], 16) for entry in self.recording["transactions"]]

    def entry(self, label: str) -> Json:
        """Return a transaction with its receipt and block."""
        (entry,) = (entry for entry in self.recording["transactions"] if entry["label"] == label)
        return dict(entry)

    def add_logs(self, label: str, *logs: LogEntry) -> None:
        """Append logs to a transaction."""
        own = self.entry(label)["receipt"]["logs"]
        for log in logs:
            own.append(own[0] | log_json(log) | {"logIndex": hex(len(own))})

    def backfill(self, label: str = "") -> str:
        """Read all blocks, or those from a transaction's one on, verify them, and return what the command prints."""
        output, first = StringIO(), int(self.entry(label)["block"]["number"], 16) if label else self.numbers[0]
        blocks = (f"--from={first}", f"--to={self.numbers[-1]}")
        call_command("backfill", f"--chain={CHAIN}", *blocks, "--verify", stdout=output)
        return output.getvalue()

    def facts(self, label: str) -> TransactionFacts:
        """Return a transaction, read in full by its hash."""
        return self.facts_of(self.entry(label)["transaction"]["hash"])

    def facts_of(self, tx_hash: str) -> TransactionFacts:
        chain = installed_chain(CHAIN)
        return read_transaction(chain.rpc, chain.info, tx_hash)

    def write(self, *facts: TransactionFacts) -> WriteCounts:
        """Write transactions as the chain's only writer."""
        with transaction.atomic():
            chain_lock.lock_exclusive(CHAIN)
            return write_transactions(list(facts), chain=installed_chain(CHAIN).info)

    def unwind(self, *, above: int) -> UnwindCounts:
        with transaction.atomic():
            chain_lock.lock_exclusive(CHAIN)
            return unwind_blocks(CHAIN, above=above)


@pytest.fixture
def install_recording(
    recorded_node: Callable[[Json], Node], settings: Any, forget_chains: Callable[[], None], tmp_path: Path
) -> Callable[..., InstalledRecording]:
    """Return a function that installs a recording's chain, one more empty block included.

    `change` gets the recording first; `more` are lines for the registry file.
    """

    def install(
        name: str, *launchpads: str, change: Callable[[InstalledRecording], object] | None = None, more: str = ""
    ) -> InstalledRecording:
        redis_client().flushdb()
        settings.CANDLE_MINUTE_DAYS = settings.TRADE_DAYS = 100_000
        installed = InstalledRecording(name)
        if change:
            change(installed)
        node = recorded_node(installed.recording)
        add_empty_block(node)
        settings.CHAINS_FILES = (str(write_registry(installed.recording, tmp_path, more=more)),)
        settings.RPC_URLS = {CHAIN: (node.url,)}
        settings.LAUNCHPADS = {CHAIN: launchpads or (name_of(installed.recording),)}
        forget_chains()
        return installed

    return install
