"""An attempt's signed versions: content, and storage before any broadcast."""

import logging

from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.signing import UnsignedTransaction
from tokens.chains.transaction_types import ContractCall
from tokens.deploying.sending.gas import GasFees
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction, TransactionPurpose

logger = logging.getLogger(__name__)


def deployment_call(deployment: Deployment) -> ContractCall:
    """Return a deployment's contract call."""
    return ContractCall(
        to=deployment.to_address, data="0x" + bytes(deployment.calldata).hex(), value=int(deployment.value)
    )


def empty_call(wallet: DeployWallet) -> ContractCall:
    """Return a call that sends nothing to the wallet itself, and uses up a nonce."""
    return ContractCall(to=wallet.address, data="0x", value=0)


def sign_version(
    attempt: DeployAttempt, *, wallet: DeployWallet, deployment: Deployment | None, fees: GasFees, gas: int
) -> SignedTransaction:
    """Sign and store an attempt's version: the deployment's call, or an empty one without a deployment.

    Call it in the database transaction that owns the attempt; the version may be broadcast only after the commit.
    Raises SignerUnavailableError, SignerRejectedError.
    """
    call = empty_call(wallet) if deployment is None else deployment_call(deployment)
    unsigned = UnsignedTransaction(
        chain_id=wallet.chain_id,
        nonce=attempt.nonce,
        to=call.to,
        value=call.value,
        data=bytes.fromhex(call.data[2:]),
        gas=gas,
        max_fee=fees.max_fee,
        priority_fee=fees.priority_fee,
    )
    signer = installed_signers(wallet.chain_id).get(wallet.address)
    if signer is None:
        raise SignerRejectedError(f"no signer has the key of {wallet.address}")
    signed = signer.sign(unsigned)
    version = SignedTransaction.objects.create(
        attempt=attempt,
        purpose=TransactionPurpose.CANCEL if deployment is None else TransactionPurpose.DEPLOY,
        tx_hash=signed.tx_hash,
        raw=signed.raw,
        max_fee=fees.max_fee,
        priority_fee=fees.priority_fee,
    )
    what = "an empty transaction" if deployment is None else deployment.request_key
    logger.info(
        "chain %s: signed %s with nonce %s of %s: %s",
        wallet.chain_id,
        what,
        attempt.nonce,
        wallet.address,
        version.tx_hash,
    )
    return version
