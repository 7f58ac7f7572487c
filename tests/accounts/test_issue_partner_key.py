"""`manage.py issue_partner_key`."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import PartnerKey
from tests.processes.forking.program import run_program

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: name"),
        ([" "], "name: This field cannot be blank"),
        (["a" * 101], "name: Ensure this value has at most 100 characters"),
        (["Acme", "--scope", "write"], "argument --scope: invalid choice: 'write'"),
        (["Acme", "--expires-days", "0"], "argument --expires-days: expected a whole number of days from 1 to 3650"),
        (["Acme", "--expires-days", "3651"], "argument --expires-days: expected a whole number of days"),
        (["Acme", "--expires-days", "soon"], "argument --expires-days: expected a whole number of days"),
    ],
)
def test_it_refuses_bad_input_in_clear_words_and_issues_nothing(arguments, words, capsys):
    with pytest.raises(CommandError) as refused:
        call_command("issue_partner_key", *arguments)
    assert words in str(refused.value)
    assert capsys.readouterr().out == ""
    assert not PartnerKey.objects.exists()


def test_it_prints_a_key_that_verifies_with_the_scopes_read_and_index(capsys):
    call_command("issue_partner_key", "Acme")
    key = credentials.verify_key(capsys.readouterr().out.removesuffix("\n"))
    assert (key.name, key.scopes, key.expires_at) == ("Acme", ["read", "index"], None)


def test_it_takes_scopes_and_an_expiry(capsys):
    before = timezone.now()
    scopes = ["--scope", "agents", "--scope", "deploy", "--scope", "read"]
    call_command("issue_partner_key", "Acme", *scopes, "--expires-days", "30")
    key = credentials.verify_key(capsys.readouterr().out.removesuffix("\n"))
    assert key.scopes == ["read", "deploy", "agents"]
    assert before + timedelta(days=30) <= key.expires_at <= timezone.now() + timedelta(days=30)


def test_the_command_line_prints_only_the_key_on_standard_output(service_environment):
    environment = service_environment | {"PARTNER_KEY_PEPPER": settings.PARTNER_KEY_PEPPER}
    ended = run_program(["python", "manage.py", "issue_partner_key", "Acme"], environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert credentials.verify_key(ended.stdout.removesuffix("\n")) is not None
