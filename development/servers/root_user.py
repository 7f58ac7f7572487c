"""Switch to a user that PostgreSQL accepts, from root or a user without a name (Linux, standard library only).

Both are usual in containers. initdb looks the user up in /etc/passwd, so that a numeric id is not enough.
"""

import ctypes
import os
import pwd
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from development.servers.processes import call_libc

_CLONE_NEWUSER = 0x10000000
_PR_SET_KEEPCAPS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 47, 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522

# The user `nobody` on almost every Linux.
_NOBODY = 65534


@dataclass(frozen=True)
class ServerUser:
    """User that PostgreSQL accepts: how a child process becomes it, and the owner of the data directory."""

    switch: Callable[[], None]
    owner: int | None

    def chown_tree(self, directory: Path) -> None:
        """Give the directory and its content to the owner, unless it has that owner."""
        if self.owner is None or directory.stat().st_uid == self.owner:
            return
        for parent, _, names in os.walk(directory):
            for name in names:
                os.lchown(os.path.join(parent, name), self.owner, self.owner)
            # A directory comes after its files: the next start resumes an interrupted walk.
            os.lchown(parent, self.owner, self.owner)


def choose_server_user(program: Path) -> ServerUser:
    """Return the first way that works, tested with `program --version`. A named ordinary user needs none."""
    user = os.geteuid()
    if user != 0 and _has_name(user):
        return ServerUser(switch=_stay, owner=None)
    named = _named_user()
    enter = partial(_enter_user_namespace, named)
    try:
        subprocess.run([program, "--version"], preexec_fn=enter, stdout=subprocess.DEVNULL, check=True)
    except subprocess.SubprocessError:
        # User namespaces are denied, as in a container under Docker's default rules.
        return (
            ServerUser(switch=partial(_become, named), owner=named)
            if user == 0
            else ServerUser(switch=_stay, owner=None)
        )
    return ServerUser(switch=enter, owner=user)


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _named_user() -> int:
    if _has_name(_NOBODY):
        return _NOBODY
    return next((entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0), _NOBODY)


def _stay() -> None:
    return


def _enter_user_namespace(named: int) -> None:
    """Enter a user namespace with another id; every file stays this user's, and the machine is unchanged."""
    user, group = os.geteuid(), os.getegid()
    call_libc("unshare", _CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{named} {user} 1"), ("gid_map", f"{named} {group} 1")):
        # Bytes, because a codec that is loaded here might be stored where this user can no longer read.
        Path("/proc/self", name).write_bytes(text.encode())


def _become(user: int) -> None:
    """Become this user, but keep root's right to enter directories: the project may be in one of root's."""
    call_libc("prctl", _PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    mask = 1 << _CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # Effective, permitted and inheritable, for the lower 32 capabilities and then for the upper.
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    call_libc("capset", header, sets)
    call_libc("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)
