"""tokens/chains/evm/transactions/signing.py: local keys and a remote signer, against eth-account."""

import socket
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from eth_account import Account
from eth_keys.constants import SECPK1_N

from tests.nodes.remote_signer import FakeRemoteSigner, refusal, remote_signer
from tokens.chains.errors import SignerRejectedError, SignerUnavailableError
from tokens.chains.evm.transactions.signing import (
    JointSigner,
    LocalSigner,
    RawTransaction,
    RemoteSigner,
    UnsignedTransaction,
)

KEY, OTHER_KEY = "0x" + "5e" * 32, "0x" + "6f" * 32
ADDRESS, OTHER = Account.from_key(KEY).address, Account.from_key(OTHER_KEY).address
LAUNCH = UnsignedTransaction(
    chain_id=8453,
    nonce=7,
    to="0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
    value=10**17,
    data=bytes(range(256)) * 3,
    gas=6_000_000,
    max_fee=2 * 10**9,
    priority_fee=10**6,
)
# Numbers that are 0 are encoded as nothing.
EMPTY = UnsignedTransaction(
    chain_id=1, nonce=0, to=ADDRESS, value=0, data=b"", gas=21_000, max_fee=10**9, priority_fee=0
)


def by_eth_account(tx: UnsignedTransaction, key: str = KEY) -> RawTransaction:
    signed = Account.sign_transaction(
        {
            "type": 2,
            "chainId": tx.chain_id,
            "nonce": tx.nonce,
            "to": tx.to,
            "value": tx.value,
            "data": tx.data,
            "gas": tx.gas,
            "maxFeePerGas": tx.max_fee,
            "maxPriorityFeePerGas": tx.priority_fee,
        },
        key,
    )
    return RawTransaction(raw=bytes(signed.raw_transaction), tx_hash=signed.hash.to_0x_hex())


def local(*keys: str) -> LocalSigner:
    return LocalSigner(bytes.fromhex(key[2:]) for key in keys)


@pytest.fixture
def signer() -> Iterator[FakeRemoteSigner]:
    with remote_signer(KEY) as running:
        yield running


def remote(signer: FakeRemoteSigner, *, timeout: float = 5) -> RemoteSigner:
    return RemoteSigner(signer.url, addresses=[ADDRESS], timeout=timeout)


def test_a_local_signer_refuses_an_address_of_which_it_has_no_key():
    with pytest.raises(SignerRejectedError, match=f"^there is no key of {OTHER}$"):
        local(KEY).sign(LAUNCH, address=OTHER)


@pytest.mark.parametrize("tx", [LAUNCH, EMPTY])
def test_a_local_signer_signs_as_eth_account_does(tx):
    signer = local(OTHER_KEY, KEY)
    assert signer.addresses == {ADDRESS, OTHER}
    assert signer.sign(tx, address=ADDRESS) == by_eth_account(tx)


def test_a_local_signer_shows_no_key():
    for shown in (repr(local(KEY)), str(local(KEY))):
        assert "5e5e" not in shown


def changed(**fields: Any) -> Any:
    """Return a signature of another transaction than the requested one."""
    return lambda request, answer: {"result": "0x" + by_eth_account(replace(LAUNCH, **fields)).raw.hex()}


def spoiled(change: Any) -> Any:
    return lambda request, answer: {"result": "0x" + change(bytes.fromhex(answer["result"][2:])).hex()}


def with_high_s(raw: bytes) -> bytes:
    """Return the other signature of the same key for the same transaction; nodes reject it."""
    s = int.from_bytes(raw[-32:], "big")
    # The point's parity comes before r and s, each of which is prefixed by a byte of its length.
    parity = raw[-67]
    assert parity in (0x80, 0x01)
    return raw[:-67] + (b"\x01" if parity == 0x80 else b"\x80") + raw[-66:-32] + (SECPK1_N - s).to_bytes(32, "big")


@pytest.mark.parametrize(
    "change",
    [
        changed(chain_id=1),
        changed(nonce=8),
        changed(to=ADDRESS),
        changed(value=0),
        changed(data=b""),
        changed(gas=6_000_001),
        changed(max_fee=1),
        changed(priority_fee=0),
        spoiled(lambda raw: raw + b"\0"),
        # The same fields with longer encodings than needed: two bytes of the list's length, and one of the signature's.
        spoiled(lambda raw: raw[:1] + b"\xfa\0" + raw[2:]),
        spoiled(
            lambda raw: (
                raw[:2]
                + (int.from_bytes(raw[2:4], "big") + 1).to_bytes(2, "big")
                + raw[4:-33]
                + b"\xb8\x20"
                + raw[-32:]
            )
        ),
        spoiled(lambda raw: b"\x01" + raw[1:]),
        spoiled(lambda raw: raw[:-1]),
        spoiled(lambda raw: raw[1:]),
        spoiled(lambda raw: b""),
    ],
)
def test_a_remote_signer_is_refused_that_signs_something_else(signer, change):
    signer.change = change
    with pytest.raises(SignerRejectedError, match="^the signer signed something else than requested$"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


@pytest.mark.parametrize(
    "change",
    [
        lambda request, answer: {"result": "0x" + by_eth_account(LAUNCH, OTHER_KEY).raw.hex()},
        spoiled(with_high_s),
        spoiled(lambda raw: raw[:-32] + b"\xff" * 32),
        spoiled(lambda raw: raw[:-65] + b"\xff" * 32 + raw[-33:]),
    ],
)
def test_a_signature_of_another_address_is_refused(signer, change):
    signer.change = change
    with pytest.raises(SignerRejectedError, match="^the signer's signature is not that of the address$"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


@pytest.mark.parametrize("result", [None, True, 7, "0x5", "raw", [], {}, {"raw": 1}, {"tx": {}}])
def test_a_remote_signer_is_refused_that_answers_with_no_transaction(signer, result):
    signer.change = lambda request, answer: {"result": result}
    with pytest.raises(SignerRejectedError, match="^the signer returned something else than a transaction$"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


def test_a_remote_signer_is_not_called_for_an_address_that_is_not_its_own(signer):
    with pytest.raises(SignerRejectedError, match=f"^the signer is not configured for {OTHER}$"):
        remote(signer).sign(LAUNCH, address=OTHER)
    assert signer.received == []


def test_a_remote_signer_that_refuses_is_quoted(signer):
    signer.change = lambda request, answer: refusal("policy:\ntoo dear, says https://s3cret@vault/x " + "!" * 999)
    with pytest.raises(SignerRejectedError, match=r"^the signer refused: policy: too dear, says \.\.\. !{173}$"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


@pytest.mark.parametrize(
    ("status", "family"), [(500, SignerUnavailableError), (503, SignerUnavailableError), (404, SignerRejectedError)]
)
def test_a_remote_signers_errors_are_distinguished_by_their_remedy(signer, status, family):
    signer.status = status
    with pytest.raises(family, match=f"HTTP status {status}$"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


def test_a_remote_signers_own_trouble_is_no_refusal(signer):
    signer.change = lambda request, answer: refusal("Internal error", code=-32603)
    with pytest.raises(SignerUnavailableError, match="Internal error"):
        remote(signer).sign(LAUNCH, address=ADDRESS)


def test_a_remote_signer_that_does_not_answer_in_time_is_not_waited_for(signer):
    signer.hold()
    with pytest.raises(SignerUnavailableError, match="no response"):
        remote(signer, timeout=0.2).sign(LAUNCH, address=ADDRESS)


def test_an_error_shows_no_address_of_the_signer():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://user:s3cret@127.0.0.1:{unused.getsockname()[1]}/s3cret"
        with pytest.raises(SignerUnavailableError) as caught:
            RemoteSigner(url, addresses=[ADDRESS], timeout=1).sign(LAUNCH, address=ADDRESS)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("tx", [LAUNCH, EMPTY])
@pytest.mark.parametrize("shape", [lambda raw: raw, lambda raw: {"raw": raw, "tx": {"hash": "0x"}}])
def test_a_remote_signer_answers_as_web3signer_or_as_geth(signer, tx, shape):
    signer.change = lambda request, answer: {"result": shape(answer["result"])}
    assert remote(signer).sign(tx, address=ADDRESS) == by_eth_account(tx)
    assert signer.received[0].keys() == {
        *("from", "to", "chainId", "nonce", "value", "data", "gas", "maxFeePerGas", "maxPriorityFeePerGas")
    }


def test_several_signers_are_one(signer):
    joint = JointSigner([local(OTHER_KEY), remote(signer)])
    assert joint.addresses == {ADDRESS, OTHER}
    assert joint.sign(LAUNCH, address=ADDRESS) == by_eth_account(LAUNCH)
    assert joint.sign(LAUNCH, address=OTHER) == by_eth_account(LAUNCH, OTHER_KEY)
    assert len(signer.received) == 1
    with pytest.raises(SignerRejectedError, match="^no signer has the key of 0x0{40}$"):
        joint.sign(LAUNCH, address="0x" + "0" * 40)


def test_of_two_signers_with_one_address_the_first_signs(signer):
    joint = JointSigner([local(KEY), remote(signer)])
    assert joint.sign(LAUNCH, address=ADDRESS) == by_eth_account(LAUNCH)
    assert signer.received == []
