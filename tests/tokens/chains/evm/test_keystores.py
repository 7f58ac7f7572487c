"""tokens/chains/evm/transactions/keystores.py: key files, and the signers that they open to."""

import json

import pytest
from eth_account import Account

from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import read_keystore
from tokens.chains.evm.transactions.signing import open_keystore

KEY = "0x" + "ab" * 32


@pytest.fixture
def key_file(tmp_path):
    def write(content):
        path = tmp_path / "keystore.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("kdf", ["pbkdf2", "scrypt"])
def test_a_file_opens_with_its_password_only(key_file, kdf):
    keystore = read_keystore(key_file(Account.encrypt(KEY, "pässwörd ☃", kdf=kdf, iterations=2)))
    assert keystore.address == Account.from_key(KEY).address
    assert open_keystore(keystore, password="pässwörd ☃").address == keystore.address
    with pytest.raises(SignerRejectedError, match="does not open with the password"):
        open_keystore(keystore, password="pässwörd")


def test_capitals_in_keys_and_0x_before_hex_are_accepted(key_file):
    content = Account.encrypt(KEY, "s3cret", kdf="scrypt", iterations=2)
    content["Crypto"] = content.pop("crypto")
    content["Crypto"]["mac"] = f"0x{content['Crypto']['mac']}"
    assert open_keystore(read_keystore(key_file(content)), password="s3cret").address == Account.from_key(KEY).address


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("kdf", None),
        ("mac", 1),
        ("ciphertext", "zz"),
        ("kdfparams", {"n": 2**80, "r": 8, "p": 1, "dklen": 32, "salt": "00"}),
    ],
)
def test_a_malformed_file_is_rejected(key_file, place, value):
    content = Account.encrypt(KEY, "s3cret", kdf="scrypt", iterations=2)
    content["crypto"][place] = value
    with pytest.raises(SignerRejectedError, match="does not open with the password"):
        open_keystore(read_keystore(key_file(content)), password="s3cret")
