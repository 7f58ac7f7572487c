"""Program that serves stand-ins until Ctrl-C or SIGTERM.

Usage: `python -m development.standins market=8600 social=8601 issuer=8602`. With `service=URL`, the market stand-in has
pools for that service's tokens; with `node=URL`, the explorer has that node's token holders.
"""

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import FrameType

from development.standins.explorer_server import ExplorerStandIn
from development.standins.http_server import CONTROL_PATH, StandIn
from development.standins.issuer_server import IssuerStandIn
from development.standins.market_server import MarketStandIn
from development.standins.social_server import SocialStandIn
from development.standins.solana_node import SolanaStandIn

# Name -> constructor, from a port and the URLs of data sources.
STAND_INS: dict[str, Callable[[int, Mapping[str, str]], StandIn]] = {
    "market": lambda port, sources: MarketStandIn(port, service=sources.get("service", "")),
    "social": lambda port, _: SocialStandIn(port),
    "issuer": lambda port, _: IssuerStandIn(port),
    "solana": lambda port, _: SolanaStandIn(port),
    "explorer": lambda port, sources: ExplorerStandIn(port, node=sources.get("node", "")),
}
_SOURCES = ("service", "node")
_USAGE = f"""usage: python -m development.standins NAME=PORT ... [service=URL] [node=URL]

Serves stand-ins for outside services, with sample data, until Ctrl-C or SIGTERM.
NAME is one of {", ".join(STAND_INS)}; on port 0 it takes a free one. POST {CONTROL_PATH} makes it fail.
The market stand-in has the pools of the service's tokens, and the explorer the holders of the node's."""


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(_USAGE)
        return
    # SIGINT too: a shell that starts a program in the background makes it ignore that signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as running:
            words = {word: word.partition("=") for word in sys.argv[1:]}
            sources = {name: url for name, _, url in words.values() if name in _SOURCES}
            ports = read_ports([word for word, (name, *_) in words.items() if name not in _SOURCES])
            for name, port in ports.items():
                stand_in = running.enter_context(STAND_INS[name](port, sources))
                print(f"{name}: sample data at {stand_in.url}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return
    except OSError as error:
        sys.exit(f"can't listen: {error.strerror}")


def read_ports(words: list[str]) -> dict[str, int]:
    """Return name -> port for the words NAME=PORT. Exits for any other word."""
    ports = {}
    for word in words:
        name, _, port = word.partition("=")
        if name not in STAND_INS or not (port.isdecimal() and int(port) <= 65535):
            sys.exit(f"expected NAME=PORT, with a name of {', '.join(STAND_INS)}")
        ports[name] = int(port)
    return ports


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
