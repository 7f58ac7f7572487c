"""Settings of deployments: refused and accepted values, and secrets that are never shown."""

import json
import os
import pickle
import pprint
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory
from django.views.debug import technical_500_response
from eth_account import Account

from config.environment import chain_variables
from config.environment.secret import Secret
from config.environment.variables import BASE_DIR
from tokens.installation.installed_signers import signing_chains

KEY, OTHER_KEY = "5e" * 32, "0x" + "6F" * 32
ADDRESS = Account.from_key(KEY).address
ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
KEYS = "a private key of 64 hex digits, or several with commas between them"
ADDRESSES = "an address of 40 hex digits after 0x, or several with commas between them"
FEE = "a number from 0.001 to 1000000"


@pytest.mark.parametrize(
    ("read", "name", "nonsense", "expected"),
    [
        *(
            (chain_variables.env_deployer_keys, "DEPLOYER_KEYS_8453", text, KEYS)
            for text in (KEY[:-1], KEY + "0", f"{KEY},s3cret", "0x0x" + KEY, "g" * 64, "0" * 64, ORDER, ",", f"-{KEY}")
        ),
        *(
            (chain_variables.env_deployer_addresses, "DEPLOYER_REMOTE_8453", text, ADDRESSES)
            for text in (ADDRESS[2:], ADDRESS[:-1], f"{ADDRESS} {ADDRESS}", ",", "s3cret")
        ),
        *(
            (chain_variables.env_highest_fees, "DEPLOY_MAX_FEE_GWEI_8453", text, FEE)
            for text in ("0", "-1", "nan", "1e7", "0.0009", "s3cret", "1,5", "\u0661", "1e99999999999999999999")
        ),
    ],
)
def test_it_refuses_nonsense_by_name_without_its_value(read, name, nonsense, expected):
    with pytest.raises(ImproperlyConfigured) as refused:
        read({name: nonsense})
    assert str(refused.value) == f"{name} has a value that can't be used: expected {expected}"


@pytest.mark.parametrize(
    ("read", "prefix"),
    [
        (chain_variables.env_deployer_keys, "DEPLOYER_KEYS_"),
        (chain_variables.env_deployer_keystores, "DEPLOYER_KEYSTORES_"),
        (chain_variables.env_deployer_addresses, "DEPLOYER_REMOTE_"),
        (chain_variables.env_highest_fees, "DEPLOY_MAX_FEE_GWEI_"),
    ],
)
def test_it_refuses_a_name_that_ends_in_no_chain_id(read, prefix):
    with pytest.raises(ImproperlyConfigured, match=f"^{prefix}base .* such as {prefix}8453$"):
        read({f"{prefix}base": "s3cret"})


def test_it_refuses_keys_that_are_given_twice(tmp_path):
    file = tmp_path / "keys"
    file.write_text(KEY)
    with pytest.raises(
        ImproperlyConfigured, match="expected either DEPLOYER_KEYS_1 or DEPLOYER_KEYS_1_FILE, not both$"
    ):
        chain_variables.env_deployer_keys({"DEPLOYER_KEYS_1": KEY, "DEPLOYER_KEYS_1_FILE": str(file)})


def test_it_refuses_a_file_of_keys_that_it_cannot_read(tmp_path):
    with pytest.raises(
        ImproperlyConfigured, match="^DEPLOYER_KEYS_1_FILE .* expected the path of a readable text file$"
    ):
        chain_variables.env_deployer_keys({"DEPLOYER_KEYS_1_FILE": str(tmp_path)})


def test_it_refuses_a_file_that_holds_no_keys(tmp_path):
    file = tmp_path / "keys"
    file.write_text("s3cret")
    with pytest.raises(ImproperlyConfigured, match=f"^DEPLOYER_KEYS_1 .* expected {KEYS}$"):
        chain_variables.env_deployer_keys({"DEPLOYER_KEYS_1_FILE": str(file)})


def test_it_reads_keys_between_commas_and_from_files(tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n{OTHER_KEY}\n")
    keys = chain_variables.env_deployer_keys(
        {"DEPLOYER_KEYS_1": f" {OTHER_KEY}, {KEY} ", "DEPLOYER_KEYS_8453_FILE": f" {file} ", "DEPLOYER_KEYS_5": " "}
    )
    revealed = {chain_id: [key.reveal() for key in found] for chain_id, found in keys.items()}
    assert revealed == {1: [OTHER_KEY[2:], KEY], 8453: [KEY, OTHER_KEY[2:]]}


def test_it_reads_addresses_paths_and_fees():
    assert chain_variables.env_deployer_addresses({"DEPLOYER_REMOTE_1": f"{ADDRESS}, {ADDRESS.lower()}"}) == {
        1: (ADDRESS, ADDRESS.lower())
    }
    assert chain_variables.env_deployer_keystores({"DEPLOYER_KEYSTORES_1": "/a b/c\\,d, e"}) == {
        1: (Path("/a b/c,d"), Path("e"))
    }
    assert chain_variables.env_highest_fees({"DEPLOY_MAX_FEE_GWEI_8453": "0.1"}) == {8453: Decimal("0.1")}


def test_a_secret_is_shown_only_by_reveal():
    secret = Secret(KEY)
    for shown in (repr(secret), str(secret), f"{secret:}", pprint.pformat([secret]), str(vars(type(secret)))):
        assert KEY not in shown
    with pytest.raises(TypeError, match="can't be pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)
    assert secret.reveal() == KEY and secret and not Secret("")


def test_djangos_page_of_errors_shows_no_key(settings):
    settings.DEBUG = True
    settings.DEPLOYER_KEYS = {8453: (Secret(KEY),)}
    settings.DEPLOYER_KEYSTORE_PASSWORD = Secret("s3cret")
    # Without a traceback, of which the page would show these lines.
    page = technical_500_response(RequestFactory().get("/"), KeyError, KeyError(), None).content.decode()
    assert "DEPLOYER_KEYS" in page and "DEPLOYER_REMOTE" in page
    assert KEY not in page and "s3cret" not in page


@pytest.mark.parametrize(
    ("name", "value", "refusal"),
    [
        ("DEPLOYER_KEYS_8453", "s3cret", f"DEPLOYER_KEYS_8453 has a value that can't be used: expected {KEYS}"),
        (
            "DEPLOY_STUCK_SECONDS",
            "0",
            "DEPLOY_STUCK_SECONDS has a value that can't be used: expected a number from 1.0",
        ),
        ("DEPLOY_LOW_BALANCE_ETH", "-1", "DEPLOY_LOW_BALANCE_ETH has a value that can't be used: expected a number fr"),
    ],
)
def test_every_command_refuses_them_in_one_line(name, value, refusal):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env=os.environ | {name: value},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"launchboard: {refusal}")


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
