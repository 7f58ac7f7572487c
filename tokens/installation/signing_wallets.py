"""Addresses for the wallets that the settings name a signer for, without opening any.

Processes that accept deployments import this, and not `installed_signers`.
"""

from collections.abc import Iterator

from coincurve import PublicKey
from django.conf import settings
from sha3 import keccak_256

from tokens.chains.addresses import checksum_address, checksum_bytes
from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import read_keystore


def signing_chains() -> set[int]:
    """Return the EVM chains for which the settings name a signer."""
    named = {*settings.DEPLOYER_KEYS, *settings.DEPLOYER_KEYSTORES, *settings.DEPLOYER_REMOTE}
    return named - {settings.SOLANA_CHAIN_ID}


def named_wallets(chain_id: int) -> set[str]:
    """Return the EIP-55 addresses for a chain's keys, key files and remote signer.

    Whether a key file opens with the password is tested only by the process that signs.
    """
    remote = settings.DEPLOYER_REMOTE.get(chain_id, ()) if settings.DEPLOYER_SIGNER_URL else ()
    keys = (_address_of(bytes.fromhex(key.reveal())) for key in settings.DEPLOYER_KEYS.get(chain_id, ()))
    return {*keys, *_keystore_addresses(chain_id), *map(checksum_address, remote)}


def _keystore_addresses(chain_id: int) -> Iterator[str]:
    for path in settings.DEPLOYER_KEYSTORES.get(chain_id, ()):
        try:
            yield read_keystore(path).address
        except SignerRejectedError:
            # A system check reports it.
            continue


def _address_of(private_key: bytes) -> str:
    # Without the byte that names the format.
    public_key = PublicKey.from_valid_secret(private_key).format(compressed=False)[1:]
    return checksum_bytes(keccak_256(public_key).digest()[-20:])
