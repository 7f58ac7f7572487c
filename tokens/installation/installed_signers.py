"""Who signs deployments in this installation: the keys, key files and remote signers of the settings."""

import logging
from collections.abc import Iterator
from functools import cache

from django.conf import settings
from eth_utils.address import to_checksum_address

from tokens.chains.evm.transactions.keystores import read_keystore, unlock
from tokens.chains.evm.transactions.signing import JointSigner, LocalSigner, RemoteSigner, Signer
from tokens.chains.types import SignerRefused

logger = logging.getLogger(__name__)


@cache
def installed_signer(chain_id: int) -> Signer:
    """Everybody who signs on this chain, as one signer; without addresses where the settings name nobody.

    Made once per process, at its first need: a key file takes a second or more to open. One that does not open is left
    out and said in the log, so that the other wallets go on.
    """
    plain = (bytes.fromhex(key.reveal()) for key in settings.DEPLOYER_KEYS.get(chain_id, ()))
    signers: list[Signer] = [LocalSigner(plain), LocalSigner(_unlocked(chain_id))]
    remote = settings.DEPLOYER_REMOTE.get(chain_id, ())
    if remote and settings.DEPLOYER_SIGNER_URL:
        addresses = (to_checksum_address(address.lower()) for address in remote)
        timeout = settings.DEPLOYER_SIGNER_TIMEOUT_SECONDS
        signers.append(RemoteSigner(settings.DEPLOYER_SIGNER_URL, addresses=addresses, timeout=timeout))
    return JointSigner(signers)


def signing_chains() -> set[int]:
    """The EVM chains for which the settings name a signer."""
    named = {*settings.DEPLOYER_KEYS, *settings.DEPLOYER_KEYSTORES, *settings.DEPLOYER_REMOTE}
    return named - {settings.SOLANA_CHAIN_ID}


def _unlocked(chain_id: int) -> Iterator[bytes]:
    for place, path in enumerate(settings.DEPLOYER_KEYSTORES.get(chain_id, ()), 1):
        try:
            yield unlock(read_keystore(path), password=settings.DEPLOYER_KEYSTORE_PASSWORD.reveal())
        except SignerRefused as error:
            logger.error("DEPLOYER_KEYSTORES_%s, file %s: %s", chain_id, place, error)
