"""This installation's signers for deployments: keys, key files and remote signers in the settings.

Imported only by processes that sign; `signing_wallets` has the addresses for all others.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import cache

from django.conf import settings

from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import read_keystore
from tokens.chains.evm.transactions.signing import LocalSigner, RemoteSigner, Signer, open_keystore

logger = logging.getLogger(__name__)


@cache
def installed_signers(chain_id: int) -> Mapping[str, Signer]:
    """Return EIP-55 address -> signer for the chain; empty if the settings name none.

    If two signers have the same address, a key is used before a key file, and this before the remote signer. Created
    once per process on first use, since a key file takes a second or more to decrypt. A file that can't be decrypted is
    logged and skipped, so that the other wallets stay usable.
    """
    return {signer.address: signer for signer in (*_remote(chain_id), *_unlocked(chain_id), *_plain(chain_id))}


def _remote(chain_id: int) -> Iterator[Signer]:
    if settings.DEPLOYER_SIGNER_URL:
        for address in map(checksum_address, settings.DEPLOYER_REMOTE.get(chain_id, ())):
            timeout = settings.DEPLOYER_SIGNER_TIMEOUT_SECONDS
            yield RemoteSigner(settings.DEPLOYER_SIGNER_URL, address=address, timeout=timeout)


def _unlocked(chain_id: int) -> Iterator[Signer]:
    for number, path in enumerate(settings.DEPLOYER_KEYSTORES.get(chain_id, ()), 1):
        try:
            yield open_keystore(read_keystore(path), password=settings.DEPLOYER_KEYSTORE_PASSWORD.reveal())
        except SignerRejectedError as error:
            logger.error("DEPLOYER_KEYSTORES_%s, file %s: %s", chain_id, number, error)


def _plain(chain_id: int) -> Iterator[Signer]:
    for key in settings.DEPLOYER_KEYS.get(chain_id, ()):
        yield LocalSigner(bytes.fromhex(key.reveal()))
