"""Faults in a whole service, by name: what ends or stalls, and what repairs it."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from development.standins.http_server import Mode, StandIn
from tests.chaos.harness import Fault
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.waiting import wait_for
from tests.upgrade.loaded_service import LoadedService
from tests.upgrade.rolling_service import RollingService

# Longer than any provider timeout.
_STALL_SECONDS = 30.0
# Each server's file system size in bytes: PostgreSQL keeps up to a gigabyte of WAL.
_POSTGRES_BYTES, _VALKEY_BYTES = 4 * 2**30, 2**29


@dataclass(frozen=True)
class Disk:
    """A server's file system in memory, with its own size."""

    place: Path
    size: int

    def fill(self) -> None:
        """Leave no free block: writes fail with ENOSPC. Data stay as they are."""

        def is_full() -> bool:
            disk = os.statvfs(self.place)
            return self._try_mount(f"remount,size={(disk.f_blocks - disk.f_bfree) * disk.f_frsize}")

        # The size is refused where the server has written since it was counted.
        wait_for(is_full, seconds=5)

    def free(self) -> None:
        """Give it its size back."""
        assert self._try_mount(f"remount,size={self.size}")

    @contextmanager
    def mounted(self) -> Iterator["Disk"]:
        """Mount it while the block runs. Only root may."""
        self.place.mkdir()
        assert self._try_mount(f"size={self.size}")
        try:
            yield self
        finally:
            subprocess.run([_program("umount"), "--lazy", self.place], check=True)

    def _try_mount(self, options: str) -> bool:
        arguments = [_program("mount"), "-t", "tmpfs", "-o", options, "tmpfs", self.place]
        return subprocess.run(arguments, check=False).returncode == 0


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found, f"{name} is missing"
    return found


def server_disks(place: Path) -> tuple[Disk, Disk]:
    """Return PostgreSQL's and Valkey's file systems in a run's directory."""
    return Disk(place / "postgres", _POSTGRES_BYTES), Disk(place / "valkey", _VALKEY_BYTES)


def all_faults(
    ground: LoadedService,
    market: StandIn,
    disks: tuple[Disk, Disk] | None,
    rng: random.Random,
    *,
    seconds: float,
) -> dict[str, Fault]:
    """Return the faults by name, in an order that takes subjects in turns; disk faults if there are disks.

    Faults that last do so for the seconds.
    """
    lasting = partial(Fault, seconds=lambda: seconds)
    service, postgres, valkey, node = ground.service, ground.postgres, ground.valkey, ExitStack()

    def behave(mode: Mode) -> None:
        for provider in (market, ground.issuer):
            provider.behave(mode, seconds=_STALL_SECONDS)

    faults = {
        "PostgreSQL restarted": Fault(postgres.stop, postgres.start),
        "web killed": _killed(service, "web"),
        "Valkey restarted": Fault(valkey.stop, valkey.start),
        "worker killed": _killed(service, "worker"),
        "PostgreSQL frozen": lasting(postgres.suspend, postgres.resume),
        "follower killed": _killed(service, "follower"),
        "node hung": lasting(lambda: node.enter_context(ground.node.gate(None)), node.close),
        "events killed": _killed(service, "events"),
        "providers down": lasting(partial(behave, Mode.FAIL), partial(behave, Mode.OK)),
        "stream killed": _killed(service, "stream"),
        "Valkey frozen": lasting(valkey.suspend, valkey.resume),
        "web worker killed": Fault(lambda: service.running["web"].kill_child(rng)),
        "providers stalled": lasting(partial(behave, Mode.STALL), partial(behave, Mode.OK)),
        "beat killed": _killed(service, "beat"),
    }
    if disks:
        faults["PostgreSQL's disk full"] = lasting(disks[0].fill, lambda: _free(disks[0], postgres))
        faults["Valkey's disk full"] = lasting(disks[1].fill, lambda: _free(disks[1], valkey))
    return faults


def _killed(service: RollingService, name: str) -> Fault:
    return Fault(lambda: service.running[name].kill())


def _free(disk: Disk, server: OwnPostgres | OwnServer) -> None:
    disk.free()
    if server.has_ended():
        server.start()
