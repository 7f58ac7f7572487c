"""`python -m development.sample_data.agent_reporter ADDRESS KEY_FILE`: reports what sample agents do, as a partner would, for `make run`.

First what they did for thirty days, then what they do now; each has one of the tokens that were launched. Sent a second
time, as by the next start, nothing counts twice.
"""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import requests

from development import private_files
from development.devchain.anvil import CHAIN_ID
from development.sample_data.agent_events import CHARACTERS, DAY, Event, Life, introduce, own

_DAYS = 30
# The history is told by parts of days; then it goes by seconds, and much faster, so that there is something to see.
_PART, _BEAT, _HURRY = DAY // 4, 10, 100.0
_BATCH = 1_000
# Seconds between two attempts: where nothing answers, and where the service refuses what is said.
_PATIENCE, _REFUSED_PATIENCE = 1.0, 60.0
# How often rankings are made beside sample agents, so that they are seen to change.
_PACE = {"LEADERBOARD_24H_SECONDS": "15", "LEADERBOARD_7D_SECONDS": "30", "LEADERBOARD_30D_SECONDS": "60"}


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The settings with which rankings keep pace with the samples, but for those that are given."""
    return {name: value for name, value in _PACE.items() if not given.get(name)}


def greet(address: str, *, are_samples: bool) -> str:
    """The greeting's line."""
    whose = "SAMPLE DATA of made-up agents" if are_samples else "of agents that partners report on"
    return f"  Leaderboard       {address}/api/droid/leaderboard  ({whose})"


def main() -> NoReturn:
    address, key_file = sys.argv[1:]
    reporter = _Reporter(address, private_files.read(Path(key_file)))
    life, began = Life(), int(time.time()) // _PART * _PART - _DAYS * DAY
    told = introduce(began - DAY) + reporter.give_tokens()
    for part in range(began, began + _DAYS * DAY, _PART):
        told += life.go_on(part, seconds=_PART)
    reporter.tell(told)
    while True:
        beat = int(time.time()) // _BEAT * _BEAT
        reporter.tell(life.go_on(beat - _BEAT, seconds=_BEAT, hurry=_HURRY) + reporter.give_tokens())
        time.sleep(max(beat + _BEAT - time.time(), 0))


class _Reporter:
    """The partner that tells of the agents; patient with a service that is not there."""

    def __init__(self, address: str, key: str) -> None:
        self._address, self._headers = address, {"x-api-key": key}
        self._owners: set[str] = set()

    def give_tokens(self) -> list[Event]:
        """Tells of the agents whose token is there now: the tokens that were launched first, in the agents' order."""
        owners = [agent for agent in CHARACTERS if agent.has_token]
        if len(self._owners) == len(owners):
            return []
        asked = {"chainId": CHAIN_ID, "sort": "asc", "limit": len(owners)}
        tokens = self._call("GET", "/api/tokens", params=asked)["data"]
        pairs = [pair for pair in zip(owners, tokens, strict=False) if pair[0].id not in self._owners]
        self._owners.update(agent.id for agent, _ in pairs)
        now = int(time.time())
        return [own(agent, chain_id=CHAIN_ID, address=token["contract_address"], now=now) for agent, token in pairs]

    def tell(self, events: list[Event]) -> None:
        """Report them, however long it takes."""
        for start in range(0, len(events), _BATCH):
            self._call("POST", "/api/droid/events", json={"events": events[start : start + _BATCH]})

    def _call(self, method: str, path: str, **options: Any) -> Any:
        """The answer, when there is one; a refusal is said each time, and tried again a minute later."""
        while True:
            try:
                answer = requests.request(method, self._address + path, headers=self._headers, timeout=30, **options)
            except requests.RequestException:
                # It starts, or starts again.
                time.sleep(_PATIENCE)
                continue
            if answer.ok:
                return answer.json()
            print(f"{path} answered {answer.status_code}: {answer.text[:200]}", flush=True)
            time.sleep(_REFUSED_PATIENCE)


if __name__ == "__main__":
    main()
