"""Reporter for sample agents' events in `make run`, as a partner would report them.

Usage: `python -m development.sample_data.agent_reporter ADDRESS KEY_FILE`.

It reports thirty days of history, then current events; each agent with a token gets a launched token. Events are
idempotent: a restart reports them again without effect.
"""

import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import requests

from development import private_files
from development.devchain.anvil import CHAIN_ID
from development.sample_data.agent_events import (
    CHARACTERS,
    DAY,
    AgentSimulation,
    Event,
    introduction_events,
    token_event,
)

_DAYS = 30
# The history's period; then the seconds between reports, and their activity factor, so that changes are visible.
_PART, _BEAT, _HURRY = DAY // 4, 10, 100.0
_BATCH = 1_000
# Retry delay in seconds: while the service does not respond, and after it rejected a request.
_RETRY_SECONDS, _REJECTED_RETRY_SECONDS = 1.0, 60.0
# Frequent rankings beside sample agents, so that changes are visible.
RANKING_SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "development.setting_overrides",
    "OVERRIDE_LEADERBOARD_SECONDS": '{"24h": 15, "7d": 30, "30d": 60}',
}


def leaderboard_greeting(address: str, *, are_samples: bool) -> str:
    """Return the greeting's line about the leaderboard."""
    source = "SAMPLE DATA of made-up agents" if are_samples else "of agents that partners report on"
    return f"  Rankings          {address}/api/droid/leaderboard  ({source})"


def main() -> NoReturn:
    address, key_file = sys.argv[1:]
    reporter = _Reporter(address, private_files.read(Path(key_file)))
    life, began = AgentSimulation(), int(time.time()) // _PART * _PART - _DAYS * DAY
    events = introduction_events(began - DAY) + reporter.assign_tokens()
    for begin in range(began, began + _DAYS * DAY, _PART):
        events += life.advance(begin, seconds=_PART)
    reporter.report(events)
    while True:
        beat = int(time.time()) // _BEAT * _BEAT
        reporter.report(life.advance(beat - _BEAT, seconds=_BEAT, hurry=_HURRY) + reporter.assign_tokens())
        time.sleep(max(beat + _BEAT - time.time(), 0))


class _Reporter:
    """Partner that reports the agents' events, and retries while the service is not available."""

    def __init__(self, address: str, key: str) -> None:
        self._address, self._headers = address, {"x-api-key": key}
        self._owners: set[str] = set()

    def assign_tokens(self) -> list[Event]:
        """Return events that link new tokens to agents: the first launched tokens, in the agents' order."""
        owners = [agent for agent in CHARACTERS if agent.has_token]
        if len(self._owners) == len(owners):
            return []
        parameters = {"chainId": CHAIN_ID, "sort": "asc", "limit": len(owners)}
        tokens = self._call("GET", "/api/tokens", params=parameters)["data"]
        pairs = [pair for pair in zip(owners, tokens, strict=False) if pair[0].id not in self._owners]
        self._owners.update(agent.id for agent, _ in pairs)
        now = int(time.time())
        return [
            token_event(agent, chain_id=CHAIN_ID, address=token["contract_address"], now=now) for agent, token in pairs
        ]

    def report(self, events: list[Event]) -> None:
        """Report the events, in batches, with retries."""
        for start in range(0, len(events), _BATCH):
            self._call("POST", "/api/droid/events", json={"events": events[start : start + _BATCH]})

    def _call(self, method: str, path: str, **options: Any) -> Any:
        """Return the response's JSON; retry until there is one, with a longer delay after a rejection."""
        while True:
            try:
                answer = requests.request(method, self._address + path, headers=self._headers, timeout=30, **options)
            except requests.RequestException:
                # The service is starting.
                time.sleep(_RETRY_SECONDS)
                continue
            if answer.ok:
                return answer.json()
            print(f"{path} answered {answer.status_code}: {answer.text[:200]}", flush=True)
            time.sleep(_REJECTED_RETRY_SECONDS)


if __name__ == "__main__":
    main()
