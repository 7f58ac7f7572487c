"""Pages of block explorers, by the addresses that the registry has of them."""

from tokens.installation.installed_chains import registry


def token_page(chain_id: int, address: str) -> str | None:
    """The explorer's page of a token; None where the chain has no explorer."""
    return _page(chain_id, "token", address)


def transaction_page(chain_id: int, tx_hash: str) -> str | None:
    """The explorer's page of a transaction; None where the chain has no explorer."""
    return _page(chain_id, "tx", tx_hash)


def address_page(chain_id: int, address: str) -> str | None:
    """The explorer's page of a wallet or contract; None where the chain has no explorer."""
    chain = registry().chains.get(chain_id)
    # Solana's explorers have accounts alone.
    return _page(chain_id, "account" if chain and chain.is_solana else "address", address)


def _page(chain_id: int, kind: str, name: str) -> str | None:
    chain = registry().chains.get(chain_id)
    return f"{chain.explorer.rstrip('/')}/{kind}/{name}" if chain and chain.explorer else None
