"""Signers of deployments in this installation: keys, key files and remote signers of the settings."""

import logging
from collections.abc import Iterator
from functools import cache

from django.conf import settings

from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import decrypt_keystore, read_keystore
from tokens.chains.evm.transactions.signing import JointSigner, LocalSigner, RemoteSigner, Signer

logger = logging.getLogger(__name__)


@cache
def installed_signer(chain_id: int) -> Signer:
    """Return all signers of the chain as one; it has no addresses if the settings name none.

    Created once per process on first use, since a key file takes a second or more to decrypt. A file that can't be
    decrypted is logged and skipped, so that the other wallets stay usable.
    """
    plain = (bytes.fromhex(key.reveal()) for key in settings.DEPLOYER_KEYS.get(chain_id, ()))
    signers: list[Signer] = [LocalSigner(plain), LocalSigner(_unlocked(chain_id))]
    remote = settings.DEPLOYER_REMOTE.get(chain_id, ())
    if remote and settings.DEPLOYER_SIGNER_URL:
        addresses = (checksum_address(address) for address in remote)
        timeout = settings.DEPLOYER_SIGNER_TIMEOUT_SECONDS
        signers.append(RemoteSigner(settings.DEPLOYER_SIGNER_URL, addresses=addresses, timeout=timeout))
    return JointSigner(signers)


def signing_chains() -> set[int]:
    """Return the EVM chains for which the settings name a signer."""
    named = {*settings.DEPLOYER_KEYS, *settings.DEPLOYER_KEYSTORES, *settings.DEPLOYER_REMOTE}
    return named - {settings.SOLANA_CHAIN_ID}


def _unlocked(chain_id: int) -> Iterator[bytes]:
    for place, path in enumerate(settings.DEPLOYER_KEYSTORES.get(chain_id, ()), 1):
        try:
            yield decrypt_keystore(read_keystore(path), password=settings.DEPLOYER_KEYSTORE_PASSWORD.reveal())
        except SignerRejectedError as error:
            logger.error("DEPLOYER_KEYSTORES_%s, file %s: %s", chain_id, place, error)
