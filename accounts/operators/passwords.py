"""Account password checks: one at a time in a process, with the same work for every refused name."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import (
    UNUSABLE_PASSWORD_PREFIX,
    Argon2PasswordHasher,
    check_password,
    get_hasher,
    make_password,
)
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.processes.concurrency_limits import password_slot


class Argon2idHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: 19 MiB of memory, two iterations, one lane."""

    memory_cost = 19_456
    time_cost = 2
    parallelism = 1


class PasswordBackend(ModelBackend):
    """Authentication by name and password; a valid hash of an older kind is replaced by a current one."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Return the active account with these credentials, or None. Raises BusyError."""
        if username is None or password is None:
            return None
        user = User.objects.filter(username=username).first()
        with password_slot():
            if user is not None and user.check_password(password):
                return user if self.user_can_authenticate(user) else None
            _complete_refusal(password, "" if user is None else user.password)
        return None


def refuse_password(password: str) -> None:
    """Do the same work for an unknown name as for a refused password. Raises BusyError."""
    with password_slot():
        _complete_refusal(password, "")


def _complete_refusal(password: str, encoded: str) -> None:
    """Do a refusal's remaining work; `encoded` is the hash that the password was compared with, "" for none.

    While an account has a hash of an older kind, each refusal costs one hash of each kind: otherwise its duration would
    reveal which names exist.
    """
    current = f"{get_hasher().algorithm}$"
    usable = User.objects.exclude(password="").exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    older = usable.exclude(password__startswith=current).values_list("password", flat=True).first()
    # Django makes a current hash for an account without a usable password.
    is_current = encoded.startswith((current, UNUSABLE_PASSWORD_PREFIX))
    if not is_current:
        make_password(password)
    if older is not None and (is_current or not encoded):
        check_password(password, older)
