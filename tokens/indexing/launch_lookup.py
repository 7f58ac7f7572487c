"""Launch transaction lookup by token address."""

from django.conf import settings

from tokens.chains.errors import LaunchNotFoundError
from tokens.chains.rpc.client import query_deadline
from tokens.installation.installed_chains import installed_chain, installed_launch_chain
from tokens.models import Token

# A search holds a thread of the web server and a slot for node calls.
SEARCH_SECONDS = 10.0


def find_launch_transaction(*, chain_id: int, address: str) -> str:
    """Return the hash of the transaction that launched the token; `address` is in stored form.

    For an indexed token the hash is stored; else the chain is searched, for at most SEARCH_SECONDS. Solana's nodes have
    no bounded search: there only indexed tokens are found.

    Raises UnsupportedChainError, LaunchNotFoundError, NodeUnavailableError.
    """
    installed_launch_chain(chain_id)
    stored = Token.objects.at_address(address, chain_id=chain_id).values_list("tx_hash", flat=True).first()
    if stored is not None:
        return stored
    tx_hash = None
    if chain_id != settings.SOLANA_CHAIN_ID:
        with query_deadline(SEARCH_SECONDS):
            tx_hash = installed_chain(chain_id).find_launch(address)
    if tx_hash is None:
        raise LaunchNotFoundError(f"chain {chain_id}: no factory launched {address}")
    return tx_hash
