"""Tests of the wallets that send deployments: their keys, their balances, and a simulation's sender."""

import json
import logging
import secrets
from decimal import Decimal
from importlib import import_module

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection
from django.utils import timezone
from eth_account import Account

from config.doctor.findings import Level
from config.environment.secret import Secret
from development.devchain.anvil import CHAIN_ID
from tests.nodes.remote_signer import remote_signer
from tests.rows.factories import DeployAttemptFactory, DeployWalletFactory
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import NodeUnavailableError, SignerRejectedError
from tokens.chains.evm.transactions.signing import LocalSigner, RemoteSigner, UnsignedTransaction
from tokens.deploying import tasks
from tokens.deploying.diagnostics import wallets
from tokens.deploying.sending.gas import GasFees
from tokens.deploying.sending.signed_versions import sign_version
from tokens.deploying.sending.wallets import NoWalletError, chains_with_wallets, refresh_wallets, simulation_senders
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeployWallet, SignedTransaction

pytestmark = pytest.mark.django_db

KEY, OTHER_KEY = "5e" * 32, "6f" * 32
ADDRESS, OTHER = Account.from_key(KEY).address, Account.from_key(OTHER_KEY).address
REMOTE = "0x" + "11" * 20
COIN = 10**18
LOW = "balance: less than 0.05 of the native coin is left"


@pytest.fixture
def signed_by(settings, forget_chains):
    """Return a function that sets the private keys and key files for the development chain's deployments."""

    def change(*keys, files=()):
        settings.DEPLOYER_KEYS = {CHAIN_ID: tuple(map(Secret, keys))} if keys else {}
        settings.DEPLOYER_KEYSTORES = {CHAIN_ID: files} if files else {}
        settings.DEPLOYER_KEYSTORE_PASSWORD = Secret("s3cret")
        forget_chains()

    return change


def delegate(launchpad, address, to):
    """Have the account execute a contract's code, as an EIP-7702 authorization does; none with the zero address."""
    launchpad.rpc("anvil_setCode", address, f"0xef0100{to[2:].lower()}" if int(to, 16) else "0x")


def fund(launchpad, address, wei):
    launchpad.rpc("anvil_setBalance", address, hex(wei))


def refresh():
    """Store this process's signers' wallets, as the worker's task does."""
    refresh_wallets(CHAIN_ID, addresses=installed_signers(CHAIN_ID).keys())


def rows():
    return {
        wallet.address: (wallet.signable, wallet.balance, "; ".join(wallet.alert_lines))
        for wallet in DeployWallet.objects.filter(chain_id=CHAIN_ID)
    }


def test_no_wallet_sends_where_no_signer_is_set(launchpad):
    with pytest.raises(NoWalletError, match=f"^no wallet can send on chain {CHAIN_ID}$"):
        simulation_senders(installed_chain(CHAIN_ID))
    assert rows() == {}


def test_rows_are_there_though_no_node_answers(launchpad, settings, signed_by, unused_port):
    settings.RPC_URLS = {CHAIN_ID: (f"http://127.0.0.1:{unused_port}",)}
    settings.RPC_PATIENCE_SECONDS = 0.1
    signed_by(KEY)
    with pytest.raises(NodeUnavailableError):
        refresh()
    assert rows() == {ADDRESS: (True, None, "")}
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == ADDRESS


def test_the_first_need_notes_the_wallets(launchpad, settings, signed_by, tmp_path):
    files = [tmp_path / "keystore.json", tmp_path / "missing"]
    files[0].write_text(json.dumps({"version": 3, "crypto": {}, "address": OTHER[2:].lower()}))
    settings.DEPLOYER_REMOTE, settings.DEPLOYER_SIGNER_URL = {CHAIN_ID: (REMOTE.lower(),)}, "http://127.0.0.1:9"
    signed_by(KEY, files=files)
    fund(launchpad, ADDRESS, COIN)
    # Other tests on this node may have funded it.
    fund(launchpad, OTHER, 0)
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == ADDRESS
    assert rows().keys() == {ADDRESS, OTHER, REMOTE}


def test_a_simulation_comes_from_the_richest(launchpad, signed_by):
    signed_by(KEY, OTHER_KEY)
    fund(launchpad, ADDRESS, 2 * COIN)
    fund(launchpad, OTHER, 3 * COIN)
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == OTHER
    fund(launchpad, ADDRESS, 4 * COIN)
    refresh()
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == ADDRESS


def test_a_balance_that_is_low_is_alerted_once_until_it_is_higher(launchpad, signed_by, caplog):
    signed_by(KEY)
    fund(launchpad, ADDRESS, COIN // 20 - 1)
    with caplog.at_level(logging.INFO):
        refresh()
        fund(launchpad, ADDRESS, COIN // 100)
        refresh()
    assert rows() == {ADDRESS: (True, Decimal(COIN // 100), LOW)}
    assert [record.getMessage() for record in caplog.records] == [f"chain {CHAIN_ID}, wallet {ADDRESS}: {LOW}"]
    fund(launchpad, ADDRESS, COIN // 20)
    refresh()
    assert rows() == {ADDRESS: (True, Decimal(COIN // 20), "")}


def test_a_delegation_is_alerted_until_it_is_revoked(launchpad, signed_by, operator):
    signed_by(KEY)
    fund(launchpad, ADDRESS, COIN)
    contract = checksum_address("0x" + "ab" * 20)
    line = f"delegation: the account executes the code of {contract} (EIP-7702)"
    try:
        delegate(launchpad, ADDRESS, contract)
        refresh()
        wallet = DeployWallet.objects.get()
        assert wallet.alert_lines == [line]
        assert contract in operator.get(f"/admin/tokens/deploywallet/{wallet.pk}/change/").text
        error, _ = wallets(timezone.now())
        assert (error.level, line in error.summary) == (Level.ERROR, True)
        assert "the key is known to others" in error.action
    finally:
        delegate(launchpad, ADDRESS, "0x" + "00" * 20)
    refresh()
    assert rows()[ADDRESS][2] == ""
    (result,) = wallets(timezone.now())
    assert result.summary == "1 wallets, 0 with an alert."


def test_contract_code_is_no_delegation(launchpad):
    deployment = launchpad.deployment
    assert installed_chain(CHAIN_ID).read_delegates([deployment.factory, REMOTE]) == {}


def test_a_wallet_whose_key_is_gone_is_kept_and_sends_no_more(launchpad, signed_by):
    signed_by(KEY, OTHER_KEY)
    fund(launchpad, ADDRESS, 0)
    fund(launchpad, OTHER, COIN)
    refresh()
    signed_by(OTHER_KEY)
    refresh()
    assert rows() == {ADDRESS: (False, Decimal(0), ""), OTHER: (True, Decimal(COIN), "")}
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == OTHER
    signed_by()
    assert chains_with_wallets() == {CHAIN_ID}
    refresh()
    with pytest.raises(NoWalletError):
        simulation_senders(installed_chain(CHAIN_ID))
    # Its key is back: the worker, which opens the signers, enables it.
    signed_by(KEY)
    with pytest.raises(NoWalletError):
        simulation_senders(installed_chain(CHAIN_ID))
    refresh()
    assert simulation_senders(installed_chain(CHAIN_ID))[0] == ADDRESS


def test_recording_keeps_what_operators_and_senders_wrote(launchpad, signed_by):
    signed_by(KEY)
    refresh()
    DeployWallet.objects.update(enabled=False, next_nonce=7, alerts={"fees": "too high"})
    fund(launchpad, ADDRESS, COIN)
    refresh()
    wallet = DeployWallet.objects.get()
    assert (wallet.enabled, wallet.next_nonce, wallet.alerts) == (False, 7, {"fees": "too high"})


def test_a_key_file_that_does_not_open_is_skipped_and_reported(signed_by, tmp_path, caplog):
    wrong, right = tmp_path / "s3cret-wrong.json", tmp_path / "right.json"
    wrong.write_text(json.dumps(Account.encrypt(KEY, "another", kdf="pbkdf2", iterations=2)))
    right.write_text(json.dumps(Account.encrypt(OTHER_KEY, "s3cret", kdf="scrypt", iterations=2)))
    signed_by(files=(wrong, right, tmp_path / "missing"))
    assert installed_signers(CHAIN_ID).keys() == {OTHER}
    assert [record.getMessage() for record in caplog.records] == [
        f"DEPLOYER_KEYSTORES_{CHAIN_ID}, file 1: the keystore of {ADDRESS} does not open with the password",
        f"DEPLOYER_KEYSTORES_{CHAIN_ID}, file 3: the file can't be read: No such file or directory",
    ]
    # Not again: each attempt takes seconds.
    assert installed_signers(CHAIN_ID).keys() == {OTHER}
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [(("kdf",), "none"), (("mac",), None), (("kdfparams", "prf"), 1), (("kdfparams",), {}), (("ciphertext",), "zz")],
)
def test_a_key_file_that_is_damaged_is_left_out(signed_by, tmp_path, caplog, path, value):
    file, content = tmp_path / "keystore.json", Account.encrypt(KEY, "s3cret", kdf="pbkdf2", iterations=2)
    place = content["crypto"] if len(path) == 1 else content["crypto"]["kdfparams"]
    place[path[-1]] = value
    file.write_text(json.dumps(content))
    signed_by(files=(file,))
    assert not installed_signers(CHAIN_ID)
    assert "does not open with the password" in caplog.text


def test_a_key_file_that_holds_another_key_than_it_states_is_skipped(signed_by, tmp_path, caplog):
    file = tmp_path / "keystore.json"
    file.write_text(json.dumps(Account.encrypt(KEY, "s3cret", kdf="pbkdf2", iterations=2) | {"address": OTHER[2:]}))
    signed_by(files=(file,))
    assert not installed_signers(CHAIN_ID)
    assert caplog.messages == [
        f"DEPLOYER_KEYSTORES_{CHAIN_ID}, file 1: the keystore of {OTHER} holds the key of another address"
    ]


def test_of_two_signers_with_one_address_the_key_signs(settings, signed_by):
    settings.DEPLOYER_REMOTE = {CHAIN_ID: (ADDRESS.lower(), OTHER)}
    settings.DEPLOYER_SIGNER_URL = "http://127.0.0.1:9"
    signed_by(KEY)
    kinds = {address: type(signer) for address, signer in installed_signers(CHAIN_ID).items()}
    assert kinds == {ADDRESS: LocalSigner, OTHER: RemoteSigner}


def test_keys_key_files_and_a_remote_signer_sign_what_the_chain_takes(launchpad, settings, signed_by, tmp_path):
    keys = [secrets.token_hex(32) for _ in range(3)]
    file = tmp_path / "keystore.json"
    file.write_text(json.dumps(Account.encrypt(keys[1], "s3cret", kdf="pbkdf2", iterations=2)))
    with remote_signer(keys[2]) as signer:
        settings.DEPLOYER_REMOTE = {CHAIN_ID: (signer.addresses[0].lower(),)}
        settings.DEPLOYER_SIGNER_URL = signer.url
        signed_by(keys[0], files=(file,))
        refresh()
        assert len(rows()) == 3
        for key in keys:
            address = Account.from_key(key).address
            fund(launchpad, address, COIN)
            tx = UnsignedTransaction(
                chain_id=CHAIN_ID,
                nonce=0,
                to=OTHER,
                value=1,
                data=b"",
                gas=21_000,
                max_fee=10 * 10**9,
                priority_fee=10**9,
            )
            signed = installed_signers(CHAIN_ID)[address].sign(tx)
            assert launchpad.rpc("eth_sendRawTransaction", "0x" + signed.raw.hex()) == signed.tx_hash
            assert launchpad.web3.eth.get_transaction(signed.tx_hash)["from"] == address


def test_the_task_notes_each_chain(launchpad, signed_by, queue):
    signed_by(KEY)
    DeployWallet.objects.create(chain_id=1, address=OTHER)
    tasks.note_deploy_wallets()
    assert sorted(message.args for message in queue()) == [[1], [CHAIN_ID]]
    tasks.note_wallets_of_chain(CHAIN_ID)
    assert rows().keys() == {ADDRESS}


def test_the_task_reports_the_obstacle(signed_by, caplog):
    signed_by(KEY)
    tasks.note_wallets_of_chain(CHAIN_ID)
    assert caplog.messages == [
        f"can't refresh the deploy wallets of chain {CHAIN_ID}: chain {CHAIN_ID} is not in the registry"
    ]


def test_the_command_reports_that_there_is_no_wallet(capsys):
    call_command("deploy_wallets")
    assert capsys.readouterr().out == "No wallet is stored yet: set DEPLOYER_KEYS_<chainId> or another signer.\n"


def test_the_command_shows_what_operators_ask_about_a_wallet_and_no_key(launchpad, signed_by, capsys):
    signed_by(KEY)
    fund(launchpad, ADDRESS, COIN // 100)
    call_command("deploy_wallets", note=True)
    assert capsys.readouterr() == (f"chain {CHAIN_ID}  {ADDRESS}  balance 0.01  next nonce 0  in flight 0  {LOW}\n", "")
    wallet = DeployWalletFactory(
        chain_id=1, address=OTHER, balance=None, next_nonce=7, enabled=False, signable=False, alerts={"fees": "high"}
    )
    DeployAttemptFactory(wallet=wallet)
    DeployAttemptFactory(wallet=wallet, state="mined")
    call_command("deploy_wallets")
    first, second = capsys.readouterr().out.splitlines()
    assert first == (
        f"chain 1  {OTHER}  balance unknown  next nonce 7  in flight 1  disabled  no signer has its key  fees: high"
    )
    assert second.startswith(f"chain {CHAIN_ID}  {ADDRESS}  ")


def test_the_command_reports_the_obstacle(signed_by, capsys):
    signed_by(KEY)
    call_command("deploy_wallets", note=True)
    output = capsys.readouterr()
    assert output.err == f"chain {CHAIN_ID}: chain {CHAIN_ID} is not in the registry\n"
    assert output.out == f"chain {CHAIN_ID}  {ADDRESS}  balance unknown  next nonce 0  in flight 0\n"


def test_nothing_is_signed_for_a_wallet_without_a_signer(signed_by):
    signed_by(OTHER_KEY)
    wallet = DeployWalletFactory(chain_id=CHAIN_ID, address=ADDRESS)
    attempt = DeployAttemptFactory(wallet=wallet)
    with pytest.raises(SignerRejectedError, match=f"^no signer has the key of {ADDRESS}$"):
        sign_version(attempt, wallet=wallet, deployment=None, fees=GasFees(max_fee=2, priority_fee=1), gas=21_000)
    assert not attempt.versions.exists()


def test_an_unknown_kind_of_alert_is_refused():
    with pytest.raises(IntegrityError, match="deploy_wallet_alerts_known"):
        DeployWalletFactory(alerts={"fees": "too high", "other": "a text"})


def test_texts_of_the_former_version_become_alerts_and_codes():
    wallet, attempt = DeployWalletFactory(), DeployAttemptFactory()
    sent = {"attempt": attempt, "raw": b"", "max_fee": 1, "priority_fee": 1}
    texts = {"": "", "too poor: 5 wei": "insufficient_funds", "unanswered: ": "unknown"}
    for text in texts:
        SignedTransaction.objects.create(tx_hash=text, error=text, **sent)
    with connection.cursor() as cursor:
        lines = "signer: no answer: gone\nfees: over the cap"
        cursor.execute("UPDATE tokens_deploywallet SET trouble = %s WHERE id = %s", [lines, wallet.pk])
        cursor.execute(import_module("tokens.migrations.0013_wallet_alerts").FILL)
        stored = import_module("tokens.migrations.0017_stored_rows")
        cursor.execute(stored.ERROR_CODES, {"first": 0, "end": 2**63 - 1})
    wallet.refresh_from_db()
    assert wallet.alerts == {"signer": "no answer: gone", "fees": "over the cap"}
    assert dict(SignedTransaction.objects.values_list("error", "error_code")) == texts
