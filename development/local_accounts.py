"""The administrator and the partner key with which `make run` greets: made once, and kept in private files."""

import secrets
from pathlib import Path

from django.contrib.auth import get_user_model

from accounts.keys import credentials
from accounts.models import Scope
from development import private_files

ADMINISTRATOR = "admin"
_SCOPES = (Scope.READ, Scope.INDEX, Scope.DEPLOY, Scope.AGENTS, Scope.SCORES)


def ensure_administrator(path: Path) -> str:
    """Make the administrator `admin` where there is none; the password that the file keeps, if it is theirs still.

    An empty text says that the administrator has another password, which nobody but they know.
    """
    users = get_user_model()._default_manager
    user = users.filter(username=ADMINISTRATOR).first()
    if user is None:
        password = private_files.keep(path, secrets.token_urlsafe(15))
        users.create_superuser(username=ADMINISTRATOR, email="", password=password)
        return password
    password = private_files.read(path)
    return password if user.check_password(password) else ""


def ensure_partner_key(path: Path) -> str:
    """The key that the file keeps, or a new one where that is no longer accepted or lacks a scope."""
    text = private_files.read(path)
    key = credentials.verify(text)
    if key is None or not set(_SCOPES) <= set(key.scopes):
        text = credentials.issue("make run", scopes=_SCOPES)
        private_files.replace(path, text)
    return text
