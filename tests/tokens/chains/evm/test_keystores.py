"""tokens/chains/evm/transactions/keystores.py: decryption of key files, against those that eth-account writes."""

import json

import pytest
from eth_account import Account

from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import decrypt_keystore, read_keystore

KEY = "0x" + "ab" * 32


@pytest.fixture
def key_file(tmp_path):
    def write(content):
        path = tmp_path / "keystore.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("password", ["s3cret", "pässwörd ☃", ""])
@pytest.mark.parametrize(("kdf", "iterations"), [("pbkdf2", 1_000), ("scrypt", 2), ("scrypt", 2**18)])
def test_a_file_of_eth_account_opens_with_its_password_only(key_file, kdf, iterations, password):
    keystore = read_keystore(key_file(Account.encrypt(KEY, password, kdf=kdf, iterations=iterations)))
    assert keystore.address == Account.from_key(KEY).address
    assert decrypt_keystore(keystore, password=password) == bytes.fromhex(KEY[2:])
    with pytest.raises(SignerRejectedError, match="does not open with the password"):
        decrypt_keystore(keystore, password=f"{password}x")


def test_capitals_in_keys_and_0x_before_hex_are_accepted(key_file):
    content = Account.encrypt(KEY, "s3cret", kdf="scrypt", iterations=2)
    content["Crypto"] = content.pop("crypto")
    content["Crypto"]["mac"] = f"0x{content['Crypto']['mac']}"
    assert decrypt_keystore(read_keystore(key_file(content)), password="s3cret") == bytes.fromhex(KEY[2:])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((place, value) for place in ("kdf", "kdfparams", "mac", "cipherparams", "ciphertext") for value in (None, 1)),
        ("cipher", "aes-128-cbc"),
        ("cipherparams", {"iv": "00"}),
        ("kdfparams", {"n": 2**80, "r": 8, "p": 1, "dklen": 32, "salt": "00"}),
        ("kdfparams", {"n": 3, "r": 8, "p": 1, "dklen": 32, "salt": "00"}),
    ],
)
def test_a_malformed_file_is_rejected(key_file, place, value):
    content = Account.encrypt(KEY, "s3cret", kdf="scrypt", iterations=2)
    content["crypto"][place] = value
    with pytest.raises(SignerRejectedError, match="does not open with the password"):
        decrypt_keystore(read_keystore(key_file(content)), password="s3cret")
