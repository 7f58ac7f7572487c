"""Address and transaction formats by chain: hex on EVM chains, base58 on Solana."""

from django.conf import settings

from tokens.chains.addresses import is_solana_address, is_solana_signature, parse_address, parse_transaction_hash
from tokens.installation.installed_registry import DefaultFor, default_chain, registry


def infer_chain_id(address: str) -> int:
    """Return the chain for an address in its stored form: Solana for base58, else the default one."""
    if is_solana_address(address):
        return registry().solana.chain_id
    return default_chain(DefaultFor.EVM_ADDRESS).chain_id


def parse_chain_address(chain_id: object, text: str) -> str:
    """Parse the chain's token or wallet address to its stored form. Raises ValueError with the rule in words."""
    if chain_id != settings.SOLANA_CHAIN_ID:
        return parse_address(text, mint_rule="must be a 20-byte hex address on a chain other than Solana")
    if not is_solana_address(text):
        raise ValueError(f"must be base58 of 32 bytes: chain {chain_id} is Solana")
    return text


def parse_chain_transaction(chain_id: object, text: str) -> str:
    """Parse the chain's transaction hash or signature to its stored form. Raises ValueError with the rule."""
    if chain_id != settings.SOLANA_CHAIN_ID:
        return parse_transaction_hash(text)
    if not is_solana_signature(text):
        raise ValueError(f"must be a base58 signature of 64 bytes: chain {chain_id} is Solana")
    return text


def evm_address_rule(lacking: str) -> str:
    """Return the error text for a base58 address, because Solana has no `lacking`."""
    return f"must be of an EVM chain, since on Solana there is no {lacking}: a 20-byte hex address"


def evm_chain_rule(lacking: str) -> str:
    """Return the error text for Solana's chain id, because Solana has no `lacking`."""
    return f"must be an EVM chain, since on Solana there is no {lacking}"
