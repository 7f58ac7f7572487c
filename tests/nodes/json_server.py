"""Servers on loopback that answer a POST's JSON: the tests' nodes and signers."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import orjson

from development.standins.loopback import ReceivedRequest, Reply, run_server

# Returns the response to a parsed body; None ends the connection without one.
Answer = Callable[[Any], Reply | None]


def serve_json(answer: Answer) -> AbstractContextManager[str]:
    """Run a server as `run_server`. GET is refused: no client sends it, except one that follows a redirect."""

    def respond(received: ReceivedRequest) -> Reply | None:
        if received.method == "POST":
            return answer(orjson.loads(received.content))
        answer({"method": "GET", "params": [], "id": None})
        return Reply(status=405)

    return run_server(respond)
