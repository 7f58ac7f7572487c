"""`manage.py user_token`, which prints a token of the stand-in issuer of `make run`."""

import fcntl
import io
import json
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from django.core.management import CommandError, call_command

from accounts.users import identity
from config.environment.issuers import read_issuers
from development import run_standins
from development.standins.http_server import Mode
from development.standins.issuer_server import IssuerStandIn


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of an installation."""
    monkeypatch.setenv("LAUNCHBOARD_LOCAL", str(tmp_path))
    return tmp_path


@pytest.fixture
def running(local: Path, issuer: IssuerStandIn) -> Iterator[dict[str, str]]:
    """Announce a `make run` with this issuer and return its settings."""
    settings = run_standins.command_settings({"issuer": int(issuer.url.rpartition(":")[2])})
    (local / "development-chain.json").write_text(json.dumps(settings), encoding="utf-8")
    with (local / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield settings


def run_command(*words: str) -> str:
    out = io.StringIO()
    call_command("user_token", *words, stdout=out)
    return out.getvalue().strip()


def test_it_refuses_where_no_run_has_announced_an_issuer(local):
    with pytest.raises(CommandError, match="no stand-in issuer"):
        run_command("--fid", "5")
    (local / "development-chain.json").write_text('{"RPC_URLS_31337": "x"}', encoding="utf-8")
    with (local / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CommandError, match="no stand-in issuer"):
            run_command("--fid", "5")


def test_it_trusts_nothing_that_a_killed_run_left(local, issuer):
    settings = {"FARCASTER_AUTH_ORIGIN": issuer.url, "FARCASTER_AUTH_DOMAINS": "x"}
    (local / "development-chain.json").write_text(json.dumps(settings), encoding="utf-8")
    (local / "run.lock").touch()
    with pytest.raises(CommandError, match="no stand-in issuer"):
        run_command("--fid", "5")


@pytest.mark.parametrize("words", [("--fid", "0"), ("--fid", "x"), ("--fid", str(2**63)), ("--fid", "-5"), ()])
def test_it_refuses_a_command_without_a_user(running, words):
    with pytest.raises(CommandError):
        run_command(*words)


def test_it_reports_where_the_stand_in_gives_none(running, issuer):
    issuer.behave(Mode.FAIL)
    with pytest.raises(CommandError, match="returned no token: HTTP status 500"):
        run_command("--fid", "5")


def test_it_prints_a_token_that_the_service_of_the_run_trusts(running, settings):
    settings.IDENTITY_ISSUERS = read_issuers(running)
    assert identity.verify_token(run_command("--fid", "12345")).fid == 12345
    by_subject = identity.verify_token(run_command("--subject", "did:privy:sample"))
    assert (by_subject.subject, by_subject.fid) == ("did:privy:sample", None)
    both = identity.verify_token(run_command("--subject", "did:privy:sample", "--fid", "5"))
    assert (both.subject, both.fid) == ("did:privy:sample", 5)


def test_no_other_installation_trusts_it(running, settings):
    token = run_command("--fid", "12345")
    settings.IDENTITY_ISSUERS = read_issuers({"FARCASTER_AUTH_DOMAINS": "127.0.0.1", "PRIVY_APP_ID": "sample"})
    with pytest.raises(identity.InvalidTokenError):
        identity.verify_token(token)
    assert jwt.get_unverified_header(token)["kid"] == "quick-auth-1"


def test_another_start_of_the_stand_in_has_other_keys(running, issuer):
    with IssuerStandIn() as other:
        assert other.rsa_key.public_key() != issuer.rsa_key.public_key()
        assert other.ec_key.public_key() != issuer.ec_key.public_key()
