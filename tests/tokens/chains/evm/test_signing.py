"""tokens/chains/evm/transactions/signing.py: local keys, key files and a remote signer."""

import socket
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from eth_account import Account

from tests.nodes.remote_signer import FakeRemoteSigner, refusal, remote_signer
from tokens.chains.errors import SignerRejectedError, SignerUnavailableError
from tokens.chains.evm.transactions.signing import LocalSigner, RawTransaction, RemoteSigner, UnsignedTransaction

KEY, OTHER_KEY = "0x" + "5e" * 32, "0x" + "6f" * 32
ADDRESS, OTHER = Account.from_key(KEY).address, Account.from_key(OTHER_KEY).address
# secp256k1's order.
ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
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


def signed(tx: UnsignedTransaction, key: str = KEY) -> RawTransaction:
    return LocalSigner(bytes.fromhex(key[2:])).sign(tx)


@pytest.fixture
def signer() -> Iterator[FakeRemoteSigner]:
    with remote_signer(KEY) as running:
        yield running


def remote(signer: FakeRemoteSigner, *, timeout: float = 5) -> RemoteSigner:
    return RemoteSigner(signer.url, address=ADDRESS, timeout=timeout)


@pytest.mark.parametrize(
    ("tx", "tx_hash"),
    [
        (LAUNCH, "0x537e0c7daa82d7a0b18d4b380a28eae3ae42688296c76e0df58ca8f3b896fb40"),
        (EMPTY, "0xfce66c3e443c44e4174e3178ab2a47f3a1f97dffb7a9a5104c450486b7b7f8f5"),
    ],
)
def test_a_key_signs_the_same_bytes_in_every_release(tx, tx_hash):
    # A hash covers all bytes. A crashed worker may sign a stored attempt again, even after an upgrade.
    assert signed(tx).tx_hash == tx_hash
    assert Account.recover_transaction(signed(tx).raw) == ADDRESS


def test_a_local_signer_shows_no_key():
    signer = LocalSigner(bytes.fromhex(KEY[2:]))
    assert "5e5e" not in f"{signer!r} {signer} {vars(signer)}"


def changed(**fields: Any) -> Any:
    """Return another transaction's signature than the requested one."""
    return lambda request, answer: {"result": "0x" + signed(replace(LAUNCH, **fields)).raw.hex()}


def spoiled(change: Any) -> Any:
    return lambda request, answer: {"result": "0x" + change(bytes.fromhex(answer["result"][2:])).hex()}


def with_high_s(raw: bytes) -> bytes:
    """Return the same key's other signature for the same transaction; nodes reject it."""
    s = int.from_bytes(raw[-32:], "big")
    # The point's parity comes before r and s; a length byte precedes each of the two.
    parity = raw[-67]
    assert parity in (0x80, 0x01)
    return raw[:-67] + (b"\x01" if parity == 0x80 else b"\x80") + raw[-66:-32] + (ORDER - s).to_bytes(32, "big")


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
        # The same fields with longer encodings than needed: two bytes for the list's length, one for the signature's.
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
        # Well-formed RLP in another shape.
        spoiled(lambda raw: b"\x02\xc0"),
        spoiled(lambda raw: b"\x02\xcc" + b"\xc0" * 12),
    ],
)
def test_a_remote_signer_is_refused_that_signs_something_else(signer, change):
    signer.change = change
    with pytest.raises(SignerRejectedError, match="^the signer signed something else than requested$"):
        remote(signer).sign(LAUNCH)


@pytest.mark.parametrize(
    "change",
    [
        lambda request, answer: {"result": "0x" + signed(LAUNCH, OTHER_KEY).raw.hex()},
        spoiled(with_high_s),
        spoiled(lambda raw: raw[:-32] + b"\xff" * 32),
        spoiled(lambda raw: raw[:-65] + b"\xff" * 32 + raw[-33:]),
        # A parity that is neither even nor odd.
        spoiled(lambda raw: raw[:-67] + b"\x02" + raw[-66:]),
    ],
)
def test_a_signature_of_another_address_is_refused(signer, change):
    signer.change = change
    with pytest.raises(SignerRejectedError, match="^the signer's signature is not that of the address$"):
        remote(signer).sign(LAUNCH)


@pytest.mark.parametrize("result", [None, True, 7, "0x5", "raw", [], {}, {"raw": 1}, {"tx": {}}])
def test_a_remote_signer_is_refused_that_answers_with_no_transaction(signer, result):
    signer.change = lambda request, answer: {"result": result}
    with pytest.raises(SignerRejectedError, match="^the signer returned something else than a transaction$"):
        remote(signer).sign(LAUNCH)


def test_a_remote_signer_that_refuses_is_quoted(signer):
    signer.change = lambda request, answer: refusal("policy:\ntoo dear, says https://s3cret@vault/x " + "!" * 999)
    with pytest.raises(SignerRejectedError, match=r"^the signer refused: policy: too dear, says \.\.\. !{173}$"):
        remote(signer).sign(LAUNCH)


@pytest.mark.parametrize(
    ("status", "family"), [(500, SignerUnavailableError), (503, SignerUnavailableError), (404, SignerRejectedError)]
)
def test_a_remote_signers_errors_are_distinguished_by_their_remedy(signer, status, family):
    signer.status = status
    with pytest.raises(family, match=f"HTTP status {status}$"):
        remote(signer).sign(LAUNCH)


def test_a_remote_signers_own_trouble_is_no_refusal(signer):
    signer.change = lambda request, answer: refusal("Internal error", code=-32603)
    with pytest.raises(SignerUnavailableError, match="Internal error"):
        remote(signer).sign(LAUNCH)


def test_a_remote_signer_that_does_not_answer_in_time_is_not_waited_for(signer):
    signer.hold()
    with pytest.raises(SignerUnavailableError, match="no response"):
        remote(signer, timeout=0.2).sign(LAUNCH)


def test_an_error_shows_no_address_of_the_signer():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://user:s3cret@127.0.0.1:{unused.getsockname()[1]}/s3cret"
        with pytest.raises(SignerUnavailableError) as caught:
            RemoteSigner(url, address=ADDRESS, timeout=1).sign(LAUNCH)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("tx", [LAUNCH, EMPTY])
@pytest.mark.parametrize("shape", [lambda raw: raw, lambda raw: {"raw": raw, "tx": {"hash": "0x"}}])
def test_a_remote_signer_answers_as_web3signer_or_as_geth(signer, tx, shape):
    signer.change = lambda request, answer: {"result": shape(answer["result"])}
    assert remote(signer).sign(tx) == signed(tx)
    assert signer.received[0].keys() == {
        *("from", "to", "chainId", "nonce", "value", "data", "gas", "maxFeePerGas", "maxPriorityFeePerGas")
    }
