"""Unprivileged user that runs the servers when root starts them, and paths it can reach (standard library only).

PostgreSQL refuses root, which is usual in containers. Any other user runs the servers itself.
"""

import hashlib
import os
import pwd
import shutil
import stat
from importlib.metadata import version
from pathlib import Path
from typing import Any

# The user `nobody` on almost every Linux.
_NOBODY = 65534
# Parent for the servers' directories if no other user can enter root's project, such as in /root.
_REACHABLE = Path("/var/lib/launchboard")


def server_user() -> int:
    """Return the id that the servers run under. initdb looks it up in /etc/passwd."""
    if os.geteuid() != 0:
        return os.geteuid()
    user_ids = [entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0]
    return user_ids[0] if user_ids and _NOBODY not in user_ids else _NOBODY


def popen_options() -> dict[str, Any]:
    """Return Popen arguments for a server. Every user can enter its working directory."""
    if os.geteuid() != 0:
        return {}
    return {"user": server_user(), "group": server_user(), "extra_groups": (), "cwd": "/"}


def server_home(local: Path) -> Path:
    """Return the directory for the servers' data and sockets: `local`, unless they can't reach it."""
    if _is_reachable(local.parent):
        return local
    return _REACHABLE / hashlib.sha256(os.fsencode(local)).hexdigest()[:16]


def make_home(local: Path) -> None:
    """Create the servers' directory, which they may enter; no other user can enter its subdirectories."""
    home = server_home(local)
    home.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        return
    if home != local:
        close_directory(home, local)
        return
    # An operator's own directory stays as it is, except that the servers can enter it.
    status = home.stat()
    if status.st_gid != server_user() or not status.st_mode & stat.S_IXGRP:
        home.chmod(stat.S_IMODE(status.st_mode) | 0o011)


def close_directory(directory: Path, local: Path) -> None:
    """Close the directory to other users; the servers' group may enter it if it holds their data."""
    holds_data = os.geteuid() == 0 and directory == server_home(local)
    mode, group = (0o710, server_user()) if holds_data else (0o700, -1)
    status = directory.stat()
    if group not in (-1, status.st_gid):
        os.chown(directory, -1, group)
    if stat.S_IMODE(status.st_mode) != mode:
        directory.chmod(mode)


def adopt_data(name: str, local: Path) -> Path:
    """Return the server's data directory, existing or not, owned by the servers' user.

    Earlier versions kept it in `local` in any case, and gave it to root.
    """
    data, earlier = server_home(local) / name, local / name
    if data != earlier and earlier.exists() and not data.exists():
        shutil.move(earlier, data)
    if data.exists():
        chown_tree(data)
    return data


def reachable_package(package: Path, local: Path) -> Path:
    """Return an installed package's directory, or its copy if the servers' user can't reach it."""
    if _is_reachable(package):
        return package
    home = server_home(local)
    copy = home / f"{package.name}-{version(package.name)}"
    if not copy.exists():
        for old in home.glob(f"{package.name}-*"):
            shutil.rmtree(old)
        draft = home / f"{package.name}-draft"
        # Includes the shared libraries that the wheel has beside the package.
        for directory in package.parent.glob(f"{package.name}*"):
            if directory.name in (package.name, f"{package.name}.libs"):
                shutil.copytree(directory, draft / directory.name, symlinks=True)
        chown_tree(draft)
        draft.rename(copy)
    return copy / package.name


def chown_tree(directory: Path) -> None:
    """Give the directory and its content to the servers' user, unless it is the owner already."""
    owner = server_user()
    if directory.stat().st_uid == owner:
        return
    for parent, _, names in os.walk(directory):
        for name in names:
            os.lchown(os.path.join(parent, name), owner, owner)
        # A directory comes after its files: the next start resumes an interrupted walk.
        os.lchown(parent, owner, owner)


def _is_reachable(directory: Path) -> bool:
    """Return whether the servers' user can enter the directory, or the part of its path that exists.

    Its group may enter a directory that `close_directory` has closed: a directory within it stays the servers' home.
    """
    return os.geteuid() != 0 or all(
        _can_enter(path.stat()) for path in (directory, *directory.parents) if path.exists()
    )


def _can_enter(status: os.stat_result) -> bool:
    return bool(status.st_mode & stat.S_IXOTH or (status.st_gid == server_user() and status.st_mode & stat.S_IXGRP))
