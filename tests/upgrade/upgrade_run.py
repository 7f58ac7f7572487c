"""Run of an upgrade and the way back under load, after which chain, database and clients must agree."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.chaos.harness import Fault, Result, Span, kill_and_compare
from tests.faults.paced_load import MIX, PacedLoad, paced_load
from tests.processes.stream_clients import ResumingReader
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import Version, former_version, this_version
from tests.upgrade.loaded_service import LoadedRun, LoadedService, LoadPlan, loaded_service, streams_open
from tests.upgrade.lock_watch import Locks, watch_locks
from tests.upgrade.rolling_service import UPGRADE
from tests.upgrade.upgrade_check import judge_log

# Clients whose requests are counted between two steps; launches and reads come at their own rates.
_COUNTED = ("deployments", "pretokens")
_MIX = MIX | {"/docs": 1, "/creators/{admin}": 1, "/api/tokens?sort=asc": 1}


@dataclass(frozen=True, kw_only=True)
class Plan(LoadPlan):
    """Quantities of a run."""

    # Commit of the former version; empty for the default.
    ref: str = ""
    # Requests of the counted clients between two steps, and reads a second.
    pause: int = 50
    reads: float = 20.0


def run(directory: Path, plan: Plan) -> Result:
    """Upgrade from the former version to this one under load, return to the former one, and check the result.

    Raises MissingVersionError.
    """
    former, new = former_version(plan.ref), this_version()
    with (
        loaded_service(directory, plan, former) as ground,
        paced_load() as load,
        streams_open(ground, plan) as streams,
    ):
        upgrade = _UpgradeRun(ground, plan, load, streams, former=former, new=new)
        return kill_and_compare(upgrade, faults=len(upgrade.faults))


class _UpgradeRun(LoadedRun):
    """Each step is a fault: `migrate`, and each process replaced by another version's."""

    def __init__(
        self,
        ground: LoadedService,
        plan: Plan,
        load: PacedLoad,
        streams: list[ResumingReader],
        *,
        former: Version,
        new: Version,
    ) -> None:
        super().__init__(ground, plan, load, streams)
        self._plan, self._former, self._new, self._locks = plan, former, new, Locks()
        self._applied, self._steps = _migrations(ground.database_url), 0
        # Producers first on the way back: processes of the former version never get a message of the new one.
        steps = [("upgrade", name, new) for name in UPGRADE] + [("return", name, former) for name in reversed(UPGRADE)]
        self.faults = {"migrate": Fault(self._migrate, self._wait_for_requests)} | {
            f"{way} of {name}": Fault(
                lambda name=name, version=version: ground.service.replace(name, version), self._wait_for_requests
            )
            for way, name, version in steps
        }

    @contextmanager
    def load(self) -> Iterator[None]:
        with self.chain_and_clients():
            self.paced.begin(self.targets(_MIX), rate=self._plan.reads)
            yield
            self.report = self.paced.finish()

    def done(self) -> float:
        return self._steps / len(self.faults)

    def compare(self) -> list[str]:
        errors, ended = super().compare(), self.ground.service.ended
        # The follower, which prices markets when it starts.
        if ended > 1:
            errors.append(f"{ended} processes ended by themselves")
        return [*errors, *self.ground.service.statuses, *judge_log(self.ground.log)]

    def figures(self, spans: Sequence[Span]) -> dict[str, Any]:
        applied = _migrations(self.ground.database_url)
        return super().figures(spans) | {
            "former": self._former.commit,
            "new": self._new.commit,
            "migrations": sorted(applied - self._applied),
            "locks": asdict(self._locks),
            "steps": {span.name: round(span.ended - span.began, 1) for span in spans},
            "stop_seconds": self.ground.service.stop_seconds,
        }

    def _migrate(self) -> None:
        with watch_locks(self.ground.database_url) as self._locks:
            self._new.manage(self.ground.service.environment, "migrate", "--verbosity", "0")

    def _wait_for_requests(self) -> None:
        """Wait until the clients have made as many further requests of each kind as planned."""
        clients = self.ground.clients
        goals = {kind: clients.count(kind) + self._plan.pause for kind in _COUNTED}
        wait_for(lambda: all(clients.count(kind) >= goal for kind, goal in goals.items()), seconds=self._plan.timeout)
        self._steps += 1


def _migrations(database_url: str) -> set[str]:
    with psycopg.connect(database_url) as connection:
        return {f"{app}/{name}" for app, name in connection.execute("SELECT app, name FROM django_migrations")}
