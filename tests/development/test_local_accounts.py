"""The accounts in the greeting of `make run`."""

import stat
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from accounts.keys import credentials
from accounts.models import PartnerKey
from development import local_accounts

pytestmark = pytest.mark.django_db


def test_it_shows_no_password_once_the_administrator_has_another(tmp_path: Path) -> None:
    first = local_accounts.ensure_administrator(tmp_path / "administrator")
    user = get_user_model().objects.get(username="admin")
    assert user.is_superuser
    assert user.check_password(first)
    assert local_accounts.ensure_administrator(tmp_path / "administrator") == first
    user.set_password("another password")
    user.save()

    assert local_accounts.ensure_administrator(tmp_path / "administrator") == ""


def test_it_gives_a_new_database_the_password_that_is_kept(tmp_path: Path) -> None:
    (tmp_path / "administrator").write_text("kept from before\n")
    assert local_accounts.ensure_administrator(tmp_path / "administrator") == "kept from before"
    assert get_user_model().objects.get(username="admin").check_password("kept from before")


def test_it_keeps_its_key_until_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "partner-key"
    first = local_accounts.ensure_partner_key(path)
    assert local_accounts.ensure_partner_key(path) == first
    credentials.revoke_key(PartnerKey.objects.get())

    second = local_accounts.ensure_partner_key(path)

    assert second != first
    verified = credentials.verify_key(second)
    assert verified is not None
    assert verified.scopes == ["read", "index", "deploy", "agents", "scores", "webhooks"]
    assert path.read_text().strip() == second
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_makes_another_key_where_the_kept_one_lacks_a_scope(tmp_path: Path) -> None:
    path = tmp_path / "partner-key"
    path.write_text(credentials.issue_key("An older one", scopes=["read", "index"]))
    verified = credentials.verify_key(local_accounts.ensure_partner_key(path))
    assert verified is not None
    assert verified.scopes == ["read", "index", "deploy", "agents", "scores", "webhooks"]
