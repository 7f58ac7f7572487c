"""The attacked server, and connections to it from loopback addresses."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from development.devchain.anvil import CHAIN_ID

# The attacker's address; a bystander uses others, as clients elsewhere do.
ATTACKER = "127.0.0.66"
# A wallet without coins, which needs none for a simulation.
WALLET = f"0x{0xABC:040x}"
_TIMEOUT = 5.0
_RECEIVE = 65_536


@dataclass(frozen=True)
class Target:
    """A `make run` server, the attack's end in monotonic seconds, and what callers of the server need."""

    host: str
    port: int
    # The attacker's partner key, and the bystander's.
    key: str
    bystander_key: str
    # Addresses of the development chain's tokens.
    tokens: Sequence[str]
    ends_at: float

    def at_port(self, port: int) -> "Target":
        """Return the same with another port that this server listens on."""
        return replace(self, port=port)

    def is_over(self) -> bool:
        """Return whether the attack ends."""
        return time.monotonic() >= self.ends_at

    def rounds(self, *, every: float) -> Iterator[int]:
        """Yield each round's number until the attack ends, `every` seconds apart or later."""
        number = 0
        while not self.is_over():
            begun = time.monotonic()
            yield number
            number += 1
            time.sleep(max(0.0, min(begun + every, self.ends_at) - time.monotonic()))

    def connect(self, source: str = ATTACKER, *, receive_buffer: int = 0) -> socket.socket:
        """Return a connection from the source address. Raises OSError."""
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if receive_buffer:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            connection.settimeout(_TIMEOUT)
            connection.bind((source, 0))
            connection.connect((self.host, self.port))
        except OSError:
            connection.close()
            raise
        return connection

    def request(
        self, method: str, path: str, *, headers: Sequence[str] = (), body: bytes = b"", source: str = ATTACKER
    ) -> bytes:
        """Return the whole response to a request on its own connection. Raises OSError."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", "Connection: close", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        answer = bytearray()
        with self.connect(source) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            while part := connection.recv(_RECEIVE):
                answer += part
        return bytes(answer)

    def request_launch(self, body: bytes) -> bytes:
        """Return the whole response to a launch body, with the partner key. Raises OSError."""
        return self.post_json("/api/tokens/deploy", body, key=self.key)

    def post_json(self, path: str, value: object, *, key: str = "", source: str = ATTACKER) -> bytes:
        """Return the whole response to a JSON body, or to its bytes. Raises OSError."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = ["Content-Type: application/json", *([f"x-api-key: {key}"] if key else [])]
        return self.request("POST", path, headers=headers, body=body, source=source)

    def collect_rewards(self, *, tokens: int = 1, key: str = "", source: str = ATTACKER) -> bytes:
        """Return the whole response to the simulated collection of so many tokens' fees. Raises OSError."""
        body = {"from": WALLET, "chainId": CHAIN_ID, "tokenAddresses": self.tokens[:tokens]}
        return self.post_json("/api/transactions/collect-rewards", body, key=key, source=source)

    def repeat(self, act: Callable[[int], object], *, at_once: int, every: float = 0.25) -> None:
        """Call `act` with a running number, from so many threads, until the attack ends. Refused calls are repeated."""
        numbers, lock = iter(range(1_000_000_000)), threading.Lock()

        def run(_: int) -> None:
            for _ in self.rounds(every=every):
                with lock:
                    number = next(numbers)
                with suppress(OSError):
                    act(number)

        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(run, range(at_once)))
