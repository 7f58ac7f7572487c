"""The recorded transactions of Solana, and a node on loopback that serves them."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import SOLANA_CHAIN_ID
from development.standins.solana_node import SolanaStandIn
from tokens.chains.registry.chains import ChainInfo, load
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.solana_chain import SolanaChain, genesis_of

PROGRAM = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"
CONFIG = "mBKqcnGotbsSb5vNrdyhzZ5EhqZdids9QYiTRckvi7v"
MINT = "AoVsGaj8MSJ6xwKxfFxo9iZWH3enC8RRTXKH2fx2F8os"
POOL = "4MrErBhXYvAWRwErdRRpJGn88NjSLrRSV2tY45Js1Vmi"
CREATOR = "oapfTk8FG2np1vSoGANkbijWiQApHZMFAytSdCoass9"
# Who paid for the launch, and may claim the launchpad's part of the fees.
PARTNER = "7v54NWdBtkjuAFJrLGsS2SXnuk8nKam81mZJeeYxVFi9"
WRAPPED_SOL = "So11111111111111111111111111111111111111112"
EVENT_AUTHORITY = "8Ks12pbrD6PXxfty1hVQiE9sc289zgU1zHkvXhrSdriF"

# Signatures, in the order of their slots: 1001 and on.
SPL_MINT = "2KUzvpxK32L5gxB6Ja9pavTGAP3oMdSSn6WnuuwKapmzdfSfmVQyemZ3SUyLV6KfPmtVAF2KYJSCWUJzH2PGV2en"
CREATE_CONFIG = "3WsS8Y8Amkr2Y1zLtH6RYKXfFH1VwCoUniLjYQb8wX2emeV1M3zxo3xg4t2dNTcdPFqnBcdGLZYKTmvXQDNJLGwF"
LAUNCH = "5rLQmiTXy6aVjpZq6WHv5wtfWAmS9rSmMJnNXvXWMRBc46r5b3BLw7QfDHpHA5eY4e8Q8wVqVVufLJbKUG6Tvf76"
SWAP = "5LScmXspsgj8HABPkD3W1EQguzenpvnFLLpNBupqGb6qq2PtSqKyvXqaSz4gTUzyZPRZQpvnJbPyuDbczhUyhmtb"
CLAIM = "2pegvQJkzWn3Dk7dX6tNHsjcAvG53TxzBhLPZFS5C4Y9m7kGkS7UiEPxp4U2ruAMTn3iNusURBaMXm5VAQsKHDmy"

Json = dict[str, Any]


def allow_list(file: Path, *, role: str = "launch_config", address: str = CONFIG) -> Path:
    """Writes an operator's registry file that knows the recorded launch by one of its accounts; returns it."""
    contract = f'{{ role = "{role}", generation = "solana", address = "{address}" }}'
    file.write_text(f"[chains.solana]\ncontracts = [{contract}]\n")
    return file


def solana_chain(info: ChainInfo, *urls: str, **more: Any) -> SolanaChain:
    """Solana with these nodes."""
    return SolanaChain(info=info, rpc=RpcClient(chain_id=SOLANA_CHAIN_ID, urls=urls, identity=genesis_of(info), **more))


def install_solana(node: SolanaStandIn, *, file: Path, settings: Any, forget: Callable[[], None]) -> None:
    """Have the service know Solana by this node, and by what the registry file adds."""
    settings.CHAINS_FILES = (str(file),)
    settings.RPC_URLS = {settings.SOLANA_CHAIN_ID: (node.url,)}
    forget()


def forms_of(node: SolanaStandIn, signature: str) -> Json:
    """A copy of a transaction's answers by encoding, to be changed."""
    return copy.deepcopy(node.transactions[signature])


@pytest.fixture(scope="session")
def solana_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry file that names the config of the recorded launch."""
    return allow_list(tmp_path_factory.mktemp("solana") / "chains.toml")


@pytest.fixture(scope="session")
def solana_info(solana_file: Path) -> ChainInfo:
    """What the registry knows of Solana with that file."""
    return load(solana_file).solana


@pytest.fixture
def solana_node() -> Iterator[SolanaStandIn]:
    """A node of the recorded transactions; tests may give it more."""
    with SolanaStandIn() as node:
        yield node


@pytest.fixture
def solana(solana_node: SolanaStandIn, solana_info: ChainInfo) -> SolanaChain:
    """The chain library on that node."""
    return solana_chain(solana_info, solana_node.url, first_pause=0.0, attempts=2)


@pytest.fixture
def installed_solana_node(
    solana_node: SolanaStandIn, solana_file: Path, settings: Any, forget_chains: Callable[[], None]
) -> SolanaStandIn:
    """The node, with which the service has Solana installed, and the recorded config allow-listed."""
    install_solana(solana_node, file=solana_file, settings=settings, forget=forget_chains)
    return solana_node
