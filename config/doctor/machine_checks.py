"""Machine and settings checks: versions, system checks (Django's and the apps'), disk space, heartbeats."""

import platform
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core import checks

from config.doctor.findings import Finding, Level
from config.environment.variables import BASE_DIR
from config.processes.heartbeats import STALE_SECONDS

_OLDEST_PYTHON = (3, 11)
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
# Free bytes, and the disk's free share.
_LITTLE, _VERY_LITTLE = (2 * 2**30, 0.1), (2**28, 0.02)


def versions(now: datetime) -> Iterator[Finding]:
    """Yield the versions: this service, Python and Django."""
    is_old = sys.version_info < _OLDEST_PYTHON
    yield Finding(
        level=Level.ERROR if is_old else Level.OK,
        summary=f"Version {settings.SERVICE_VERSION}, Python {platform.python_version()}, Django {django.__version__}.",
        action=f"Install Python {'.'.join(map(str, _OLDEST_PYTHON))} or newer." if is_old else "",
        guide="running.md#requirements",
    )


def settings_in_use(now: datetime) -> Iterator[Finding]:
    """Yield the messages of `manage.py check --deploy`, both Django's and the apps'.

    Deployment messages concern https; without it, a finding names the addresses where that is dangerous.
    """
    if settings.DEBUG:
        yield Finding(
            level=Level.ERROR,
            summary="DEBUG is true: tracebacks show settings.",
            action="Unset it.",
            guide="running.md#requirements",
        )
    is_secure = settings.SITE_URL.startswith("https://")
    if not is_secure and urlsplit(settings.SITE_URL).hostname not in _THIS_MACHINE:
        yield Finding(
            level=Level.WARNING,
            summary=f"SITE_URL is {settings.SITE_URL}: passwords and cookies of operators are sent in the clear.",
            action="Let a proxy terminate TLS, and set SITE_URL to its https:// address.",
            guide="running.md#reverse-proxies",
        )
    check_messages = checks.run_checks(include_deployment_checks=is_secure)
    messages = [message for message in check_messages if not message.is_silenced()]
    for message in messages:
        yield Finding(
            level=Level.ERROR if message.is_serious() else Level.WARNING,
            summary=f"{message.id}: {' '.join(str(message.msg).split())}",
            action=" ".join(str(message.hint or "See manage.py check --deploy.").split()),
            guide="running.md#requirements",
        )
    yield Finding(level=Level.OK, summary=f"manage.py check has {len(messages)} messages.")


def disk_space(now: datetime) -> Iterator[Finding]:
    """Yield the free space on this installation's disks: program, bundled servers and keys, pictures, uploads."""
    directories = (BASE_DIR, settings.LOCAL_DIRECTORY, settings.SITE_PICTURE_DIR, settings.UPLOAD_DIR)
    places = {_existing(path) for path in directories}
    for path in {directory.stat().st_dev: directory for directory in sorted(places, reverse=True)}.values():
        usage = shutil.disk_usage(path)
        level = Level.OK
        for limit, (size, share) in ((Level.WARNING, _LITTLE), (Level.ERROR, _VERY_LITTLE)):
            if usage.free < size or usage.free < share * usage.total:
                level = limit
        yield Finding(
            level=level,
            summary=f"{usage.free / 2**30:,.1f} GiB of {usage.total / 2**30:,.1f} GiB are free at {path}.",
            action="" if level == Level.OK else "Free space or enlarge the disk, also that of the database's server.",
            guide="running.md#trades",
        )


def heartbeats(now: datetime) -> Iterator[Finding]:
    """Yield the process loops with stale heartbeats, in HEARTBEAT_DIR and its folders."""
    directory: Path | None = settings.HEARTBEAT_DIR
    files = sorted(file for file in directory.rglob("*") if file.is_file()) if directory else []
    stale = {file: age for file in files if (age := now.timestamp() - file.stat().st_mtime) > STALE_SECONDS}
    for file, age in stale.items():
        yield Finding(
            level=Level.ERROR,
            summary=f"The last heartbeat in {file} was {age:,.0f} s ago.",
            action="Its process hangs or was killed: read its log, and restart it. A removed process: delete the file.",
            guide="watching.md#health-and-readiness",
        )
    where = f"in {directory}" if directory else "to read: HEARTBEAT_DIR is not set"
    yield Finding(level=Level.OK, summary=f"{len(files) - len(stale)} fresh heartbeats {where}.")


def _existing(path: Path) -> Path:
    return next(directory for directory in (path, *path.parents) if directory.exists())
