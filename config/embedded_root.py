"""Running PostgreSQL when this process is root, which PostgreSQL refuses (standard library alone, Linux)."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config.processes import call_libc

_CLONE_NEWUSER = 0x10000000
_PR_SET_KEEPCAPS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 47, 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522

# Inside the user namespace root is seen under this number.
_INNER_USER = 1000
# "nobody" on every Linux.
_NOBODY = 65534


@dataclass(frozen=True)
class Identity:
    """How a child becomes a user that PostgreSQL accepts, and who owns the data directory then."""

    take: Callable[[], None]
    owner: int | None

    def own(self, directory: Path) -> None:
        """Give the directory and all in it to the owner, where they belong to someone else."""
        if self.owner is None or directory.stat().st_uid == self.owner:
            return
        for parent, _, names in os.walk(directory):
            for name in names:
                os.lchown(os.path.join(parent, name), self.owner, self.owner)
            # A directory comes after its files: a walk that was cut short is taken up by the next start.
            os.lchown(parent, self.owner, self.owner)


def choose_identity(program: Path) -> Identity:
    """The first way that works here, tried with `program --version`. An ordinary user needs none."""
    if os.geteuid() != 0:
        return Identity(take=_stay, owner=None)
    try:
        subprocess.run([program, "--version"], preexec_fn=_enter_user_namespace, stdout=subprocess.DEVNULL, check=True)
    except subprocess.SubprocessError:
        # User namespaces are denied, as in a container under Docker's default rules.
        return Identity(take=_become_nobody, owner=_NOBODY)
    return Identity(take=_enter_user_namespace, owner=0)


def _stay() -> None:
    return


def _enter_user_namespace() -> None:
    """Be seen as an ordinary user, while every file still is root's: nothing on the machine is changed."""
    call_libc("unshare", _CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{_INNER_USER} 0 1"), ("gid_map", f"{_INNER_USER} 0 1")):
        Path("/proc/self", name).write_text(text, encoding="ascii")


def _become_nobody() -> None:
    """Become nobody, but keep passing through directories, since the project may lie where only root can enter."""
    call_libc("prctl", _PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    mask = 1 << _CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # Effective, permitted and inheritable, for the lower 32 capabilities and then for the upper.
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    call_libc("capset", header, sets)
    call_libc("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)
