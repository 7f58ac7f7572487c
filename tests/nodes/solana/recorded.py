"""The recorded Solana transactions, and a node on loopback that serves them."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import SOLANA_CHAIN_ID
from development.standins.solana_node import SolanaStandIn
from tokens.chains.registry.chains import ChainInfo, load_registry
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.solana_chain import SolanaChain, network_identity

PROGRAM = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"
CONFIG = "mBKqcnGotbsSb5vNrdyhzZ5EhqZdids9QYiTRckvi7v"
MINT = "AoVsGaj8MSJ6xwKxfFxo9iZWH3enC8RRTXKH2fx2F8os"
POOL = "4MrErBhXYvAWRwErdRRpJGn88NjSLrRSV2tY45Js1Vmi"
CREATOR = "oapfTk8FG2np1vSoGANkbijWiQApHZMFAytSdCoass9"
# The launch's payer, who may claim the launchpad's fee part.
PARTNER = "7v54NWdBtkjuAFJrLGsS2SXnuk8nKam81mZJeeYxVFi9"
WRAPPED_SOL = "So11111111111111111111111111111111111111112"
EVENT_AUTHORITY = "8Ks12pbrD6PXxfty1hVQiE9sc289zgU1zHkvXhrSdriF"

# Signatures, sorted by their slots: 1001 and on.
SPL_MINT = "2KUzvpxK32L5gxB6Ja9pavTGAP3oMdSSn6WnuuwKapmzdfSfmVQyemZ3SUyLV6KfPmtVAF2KYJSCWUJzH2PGV2en"
CREATE_CONFIG = "3WsS8Y8Amkr2Y1zLtH6RYKXfFH1VwCoUniLjYQb8wX2emeV1M3zxo3xg4t2dNTcdPFqnBcdGLZYKTmvXQDNJLGwF"
LAUNCH = "5rLQmiTXy6aVjpZq6WHv5wtfWAmS9rSmMJnNXvXWMRBc46r5b3BLw7QfDHpHA5eY4e8Q8wVqVVufLJbKUG6Tvf76"
SWAP = "5LScmXspsgj8HABPkD3W1EQguzenpvnFLLpNBupqGb6qq2PtSqKyvXqaSz4gTUzyZPRZQpvnJbPyuDbczhUyhmtb"
CLAIM = "2pegvQJkzWn3Dk7dX6tNHsjcAvG53TxzBhLPZFS5C4Y9m7kGkS7UiEPxp4U2ruAMTn3iNusURBaMXm5VAQsKHDmy"

Json = dict[str, Any]


def allow_list(file: Path, *, role: str = "launch_config", address: str = CONFIG) -> Path:
    """Write an operator's registry file that allow-lists the recorded launch by one account; return it."""
    contract = f'{{ role = "{role}", generation = "solana", address = "{address}" }}'
    file.write_text(f"[chains.solana]\ncontracts = [{contract}]\n")
    return file


def solana_chain(info: ChainInfo, *urls: str, **more: Any) -> SolanaChain:
    """Return Solana with these nodes."""
    return SolanaChain(
        info=info, rpc=RpcClient(chain_id=SOLANA_CHAIN_ID, urls=urls, identity=network_identity(info), **more)
    )


def install_solana(node: SolanaStandIn, *, file: Path, settings: Any, forget: Callable[[], None]) -> None:
    """Install Solana with this node and the registry file."""
    settings.CHAINS_FILES = (str(file),)
    settings.RPC_URLS = {settings.SOLANA_CHAIN_ID: (node.url,)}
    forget()


def forms_of(node: SolanaStandIn, signature: str) -> Json:
    """Copy a transaction's responses by encoding, to be changed."""
    return copy.deepcopy(node.transactions[signature])


@pytest.fixture(scope="session")
def solana_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry file that names the recorded launch's config."""
    return allow_list(tmp_path_factory.mktemp("solana") / "chains.toml")


@pytest.fixture(scope="session")
def solana_info(solana_file: Path) -> ChainInfo:
    """Return the registry's Solana entry with that file."""
    return load_registry(solana_file).solana


@pytest.fixture
def solana_node() -> Iterator[SolanaStandIn]:
    """Run a node with the recorded transactions; tests may add more."""
    with SolanaStandIn() as node:
        yield node


@pytest.fixture
def solana(solana_node: SolanaStandIn, solana_info: ChainInfo) -> SolanaChain:
    """Return the chain library on that node."""
    return solana_chain(solana_info, solana_node.url, initial_backoff=0.0, attempts=2)


@pytest.fixture
def installed_solana_node(
    solana_node: SolanaStandIn, solana_file: Path, settings: Any, forget_chains: Callable[[], None]
) -> SolanaStandIn:
    """Run the node, with Solana installed on it and the recorded config allow-listed."""
    install_solana(solana_node, file=solana_file, settings=settings, forget=forget_chains)
    return solana_node
