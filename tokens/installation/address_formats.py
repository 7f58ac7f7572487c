"""How each kind of chain writes its addresses and names its transactions: in hex, or on Solana in base58."""

from django.conf import settings
from rest_framework.exceptions import ValidationError

from config.api.fields import parse_address, parse_transaction_hash
from tokens.chains.base58 import is_account, is_signature
from tokens.installation.installed_chains import registry


def usual_chain_id(address: str) -> int:
    """The chain that is meant where a caller names an address in its stored form, and no chain."""
    return registry().solana.chain_id if is_account(address) else registry().default_chain.chain_id


def read_address_on(chain_id: int, text: str, *, name: str) -> str:
    """As `parse_address_on`. Raises ValidationError (400) on that name."""
    try:
        return parse_address_on(chain_id, text)
    except ValueError as error:
        raise ValidationError({name: [str(error)]}) from error


def parse_address_on(chain_id: object, text: str) -> str:
    """A token or wallet of the chain, in its stored form. Raises ValueError with the rule, as for other kinds' ones."""
    if chain_id != settings.SOLANA_CHAIN_ID:
        return parse_address(text, mint_rule="must be a 20-byte hex address on a chain other than Solana")
    if not is_account(text):
        raise ValueError(f"must be base58 of 32 bytes: chain {chain_id} is Solana")
    return text


def parse_hash_on(chain_id: object, text: str) -> str:
    """What names a transaction of the chain, in its stored form. Raises ValueError with the rule."""
    if chain_id != settings.SOLANA_CHAIN_ID:
        return parse_transaction_hash(text)
    if not is_signature(text):
        raise ValueError(f"must be a base58 signature of 64 bytes: chain {chain_id} is Solana")
    return text
