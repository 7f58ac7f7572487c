"""Program that serves stand-ins until Ctrl-C or SIGTERM.

Usage: `python -m development.standins market=8600 social=8601 issuer=8602`. With `service=URL`, the market stand-in has
the pools of that service's tokens.
"""

import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import FrameType

from development.standins.http_server import CONTROL_PATH, StandIn
from development.standins.issuer_server import IssuerStandIn
from development.standins.market_server import MarketStandIn
from development.standins.social_server import SocialStandIn
from development.standins.solana_node import SolanaStandIn

STAND_INS: dict[str, Callable[[int], StandIn]] = {
    "market": MarketStandIn,
    "social": SocialStandIn,
    "issuer": IssuerStandIn,
    "solana": SolanaStandIn,
}


_SERVICE = "service="
_USAGE = f"""usage: python -m development.standins NAME=PORT ... [service=URL]

Serves stand-ins for outside services, with sample data, until Ctrl-C or SIGTERM.
NAME is one of {", ".join(STAND_INS)}; on port 0 it takes a free one. POST {CONTROL_PATH} makes it fail.
The market stand-in has the pools of the tokens of the service at URL."""


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(_USAGE)
        return
    # SIGINT too: a shell that starts a program in the background makes it ignore that signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as running:
            words = sys.argv[1:]
            service = "".join(word.removeprefix(_SERVICE) for word in words if word.startswith(_SERVICE))
            for name, port in read_ports([word for word in words if not word.startswith(_SERVICE)]).items():
                make = partial(MarketStandIn, service=service) if name == "market" else STAND_INS[name]
                stand_in = running.enter_context(make(port))
                print(f"{name}: sample data at {stand_in.url}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return
    except OSError as error:
        sys.exit(f"can't listen: {error.strerror}")


def read_ports(words: list[str]) -> dict[str, int]:
    """Return the ports by name for the words NAME=PORT. Exits for any other word."""
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
