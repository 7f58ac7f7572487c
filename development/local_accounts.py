"""Administrator and partner key for `make run`, created once and stored in private files."""

import secrets
from pathlib import Path

from django.contrib.auth import get_user_model

from accounts.keys import credentials
from accounts.models import Scope
from development import private_files

ADMINISTRATOR = "admin"
_SCOPES = (Scope.READ, Scope.INDEX, Scope.DEPLOY, Scope.AGENTS, Scope.SCORES, Scope.WEBHOOKS)


def ensure_administrator(path: Path) -> str:
    """Create the administrator `admin` if it is missing; return the stored password if it is still valid.

    An empty text means that the administrator has changed the password.
    """
    users = get_user_model()._default_manager
    user = users.filter(username=ADMINISTRATOR).first()
    if user is None:
        password = private_files.read_or_create(path, secrets.token_urlsafe(15))
        users.create_superuser(username=ADMINISTRATOR, email="", password=password)
        return password
    password = private_files.read(path)
    return password if user.check_password(password) else ""


def ensure_partner_key(path: Path) -> str:
    """Return the stored key, or a new one if it is no longer valid or lacks a scope."""
    text = private_files.read(path)
    key = credentials.verify_key(text)
    if key is None or not set(_SCOPES) <= set(key.scopes):
        text = credentials.issue_key("make run", scopes=_SCOPES)
        private_files.replace(path, text)
    return text
