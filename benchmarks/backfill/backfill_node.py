"""A fast node for the generated chain, in its own process, whose costs are small beside the client's.

    python -m benchmarks.backfill.backfill_node --launches 50000 --blocks 200000

prints its port once it is ready, and ends with its standard input. A URL's path selects its responses:
`/<stamped|plain>/<milliseconds>`, whether logs contain their block's timestamp and how long each HTTP request takes at
least. `GET /` returns the request counts, the seconds until the first one, the responses' cost, and the expected final
rows; `GET /reset` clears the counts.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

import orjson

from benchmarks.backfill.backfill_answers import Answers
from benchmarks.backfill.backfill_chain import CHAIN_ID, Chain
from config.environment.variables import BASE_DIR
from development.standins.loopback import HOST, ReceivedRequest, RefusedError, Reply, answer_calls, run_server

# As the large providers have it.
_MOST_LOGS = 10_000


class Node:
    """A node that answers calls, and counts them."""

    def __init__(self, answers: Answers, *, truth: Mapping[str, object]) -> None:
        self._answers, self._truth, self._lock = answers, dict(truth), Lock()
        self.reset()
        self._methods = {stamped: self._table(answers, stamped=stamped) for stamped in (False, True)}

    def reset(self) -> None:
        """Start counting anew."""
        self.calls: Counter[str] = Counter()
        self.requests = self.sent = 0
        self._cpu, self._began, self._first = time.process_time(), time.monotonic(), 0.0

    def counts_as_json(self) -> bytes:
        """Return the counts since their start, as JSON."""
        counts = {
            "calls": self.calls,
            "requests": self.requests,
            "sent": self.sent,
            "cpu": time.process_time() - self._cpu,
            "first": self._first,
            "head": self._answers.head,
        }
        return orjson.dumps(counts | self._truth)

    def respond(self, request: ReceivedRequest) -> Reply:
        """Return the response to calls, or to a request for the counts."""
        if request.method == "GET":
            if request.path == "/reset":
                self.reset()
            return Reply(self.counts_as_json())
        _, kind, milliseconds = request.path.split("/")
        with self._lock:
            content = self.answer(request.content, stamped=kind == "stamped")
            self.sent += len(content)
        time.sleep(int(milliseconds) / 1000)
        return Reply(content)

    def answer(self, body: bytes, *, stamped: bool) -> bytes:
        """Return the response to a request's body: one call or a batch."""
        if not self.requests:
            self._first = time.monotonic() - self._began
        self.requests += 1
        methods = self._methods[stamped]

        def result(call: dict[str, Any]) -> orjson.Fragment:
            self.calls[call["method"]] += 1
            if call["method"] not in methods:
                raise RefusedError(-32601, f"the method {call['method']} does not exist")
            return orjson.Fragment(methods[call["method"]](call.get("params") or []))

        return orjson.dumps(answer_calls(orjson.loads(body), result))

    def _table(self, answers: Answers, *, stamped: bool) -> dict[str, Callable[[list[Any]], bytes]]:
        return {
            "eth_chainId": lambda _: b'"%#x"' % CHAIN_ID,
            "eth_blockNumber": lambda _: b'"%#x"' % answers.head,
            "eth_getLogs": lambda given: answers.logs(given[0], stamped=stamped, most=_MOST_LOGS),
            "eth_getBlockByNumber": lambda given: answers.block(given[0]),
            "eth_getBlockReceipts": lambda given: answers.receipts(given[0], stamped=stamped),
        }


@contextmanager
def served_node(module: str, **options: int) -> Iterator[str]:
    """Run a node's module in its own process while the block runs, and yield its URL."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(command, cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        # The process ends with its standard input, which `with` closes.
        yield f"http://{HOST}:{int(process.stdout.readline())}"


def serve(node: Node) -> None:
    """Serve until the standard input ends, after printing the port."""
    with run_server(node.respond) as url:
        print(url.rpartition(":")[2], flush=True)
        # Ends with the process that started this one, however that ends.
        sys.stdin.read()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a generated chain.")
    parser.add_argument("--launches", type=int, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    options = parser.parse_args()
    chain = Chain(options.launches, options.blocks)
    truth = {"digest": chain.digest(), "launches": chain.launches, "changes": chain.changes}
    serve(Node(Answers(chain), truth=truth))


if __name__ == "__main__":
    main()
