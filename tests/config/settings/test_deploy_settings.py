"""Deployment settings: commands that refuse them, checks, and secrets that are never shown."""

import json
import os

import pytest
from django.core.checks import run_checks
from django.test import RequestFactory
from django.views.debug import technical_500_response
from eth_account import Account

from config.environment.secret import Secret
from tests.processes.forking.program import run_program
from tokens.installation.signing_wallets import signing_chains

KEY = "5e" * 32
ADDRESS = Account.from_key(KEY).address


def test_djangos_page_of_errors_shows_no_key(settings):
    settings.DEBUG = True
    settings.DEPLOYER_KEYS = {8453: (Secret(KEY),)}
    settings.DEPLOYER_KEYSTORE_PASSWORD = Secret("s3cret")
    # Without a traceback: the page would show its source lines, and these contain the secrets.
    page = technical_500_response(RequestFactory().get("/"), KeyError, KeyError(), None).content.decode()
    assert "DEPLOYER_KEYS" in page and "DEPLOYER_REMOTE" in page
    assert KEY not in page and "s3cret" not in page


def test_every_command_refuses_them_in_one_line():
    done = run_program(["python", "manage.py", "check"], os.environ | {"DEPLOYER_KEYS_8453": "s3cret"})
    expected = "a private key of 64 hex digits, or several with commas between them"
    sentence = f"launchboard: DEPLOYER_KEYS_8453 has a value that can't be used: expected {expected}\n"
    assert (done.returncode, done.stderr) == (1, sentence)


@pytest.fixture
def check(settings):
    """Return a function that runs the system checks and returns (id, text) of messages about signers."""

    def run():
        settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
        ours = [message for message in run_checks() if (message.id or "").startswith("tokens.")]
        return [(message.id, message.msg) for message in ours]

    return run


def test_the_check_names_signers_of_a_chain_without_a_node(check, settings):
    settings.DEPLOYER_KEYS = {1: (Secret(KEY),), 8453: (Secret(KEY),)}
    assert check() == [("tokens.W003", "DEPLOYER_KEYS_1 is set, and RPC_URLS_1 is not: nothing is sent there.")]


def test_the_check_names_signers_of_solana_where_none_sign(check, settings):
    settings.DEPLOYER_KEYS = {101: (Secret(KEY),), 8453: (Secret(KEY),)}
    text = "DEPLOYER_KEYS_101 is set, and chain 101 is Solana: it has no effect."
    assert check() == [("tokens.W003", text)]
    assert signing_chains() == {8453}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the file can't be read: No such file or directory"),
        (b"\xff\xfe", "the file is not JSON"),
        (b"s3cret", "the file is not JSON"),
        (b"[]", "the file is not an encrypted key of version 3"),
        (b'{"version": 4, "crypto": {}}', "the file is not an encrypted key of version 3"),
        (b'{"version": 3, "crypto": {"kdf": "scrypt"}}', "the file has no `address`: write it there"),
        (
            b'{"version": 3, "crypto": {"kdf": "scrypt"}, "address": "s3cret"}',
            "the file has no `address`: write it there",
        ),
    ],
)
def test_the_check_names_a_key_file_that_is_none(check, settings, tmp_path, content, reason):
    file = tmp_path / "s3cret"
    if content is not None:
        file.write_bytes(content)
    settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_KEYSTORE_PASSWORD = {8453: (file,)}, Secret("s3cret")
    assert check() == [("tokens.E004", f"DEPLOYER_KEYSTORES_8453, file 1: {reason}")]


def test_the_check_misses_the_password_of_key_files(check, settings, tmp_path):
    file = tmp_path / "keystore.json"
    file.write_text(json.dumps({"version": 3, "crypto": {"kdf": "scrypt"}, "address": ADDRESS}))
    settings.DEPLOYER_KEYSTORES = {8453: (file,)}
    assert check() == [("tokens.E005", "There are DEPLOYER_KEYSTORES, and no DEPLOYER_KEYSTORE_PASSWORD.")]


def test_the_check_names_a_mistyped_address_and_a_missing_signer(check, settings):
    mistyped = ADDRESS[:-4] + ADDRESS[-4:].swapcase()
    settings.DEPLOYER_REMOTE = {8453: (ADDRESS, ADDRESS.lower(), mistyped)}
    assert check() == [
        ("tokens.E006", f"DEPLOYER_REMOTE_8453 has an address with a wrong checksum: {mistyped}"),
        ("tokens.E007", "There are addresses in DEPLOYER_REMOTE, and no DEPLOYER_SIGNER_URL."),
    ]


def test_the_check_is_content_with_signers_that_can_sign(check, settings):
    settings.DEPLOYER_KEYS = {8453: (Secret(KEY),)}
    settings.DEPLOYER_REMOTE, settings.DEPLOYER_SIGNER_URL = {8453: (ADDRESS,)}, "http://127.0.0.1:9"
    assert check() == []
