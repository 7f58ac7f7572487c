"""Signed versions of an attempt: what is signed, and that its bytes are stored before anybody else sees them."""

import logging

from tokens.chains.evm.transactions.signing import UnsignedTransaction
from tokens.chains.launching.launch_config import ContractCall
from tokens.deploying.sending.gas import Fees
from tokens.installation.installed_signers import installed_signer
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

Purpose = SignedTransaction.Purpose


def call_of(order: Deployment) -> ContractCall:
    """The call that carries out an order."""
    return ContractCall(to=order.to_address, data="0x" + bytes(order.calldata).hex(), value=int(order.value))


def empty_call(wallet: DeployWallet) -> ContractCall:
    """A call that sends nothing to the wallet itself, and uses up a nonce."""
    return ContractCall(to=wallet.address, data="0x", value=0)


def sign(
    attempt: DeployAttempt, *, wallet: DeployWallet, order: Deployment | None, fees: Fees, gas: int
) -> SignedTransaction:
    """Sign a version of an attempt and store it: the order's call, or the empty one without an order.

    To be called in the database transaction that owns the attempt; nobody may see the version before that is committed.
    Raises SignerUnavailable, SignerRefused.
    """
    call = empty_call(wallet) if order is None else call_of(order)
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
    signed = installed_signer(wallet.chain_id).sign(unsigned, address=wallet.address)
    version = SignedTransaction.objects.create(
        attempt=attempt,
        purpose=Purpose.CANCEL if order is None else Purpose.DEPLOY,
        tx_hash=signed.tx_hash,
        raw=signed.raw,
        max_fee=fees.max_fee,
        priority_fee=fees.priority_fee,
    )
    what = "an empty transaction" if order is None else order.request_key
    logger.info(
        "chain %s: signed %s with nonce %s of %s: %s",
        wallet.chain_id,
        what,
        attempt.nonce,
        wallet.address,
        version.tx_hash,
    )
    return version
