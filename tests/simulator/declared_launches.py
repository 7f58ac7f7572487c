"""Launches by a launchpad that only a registry file declares: one v4 pool each, whose hook swaps in it, too.

The event has a condition and a struct; the creator is in another contract's log, or the transaction's sender.
"""

from collections.abc import Iterable

from tests.nodes.contract_events import TRANSFER, V4_INITIALIZE
from tests.nodes.launch_builder import USDC, WETH, ZERO
from tests.nodes.log_encoding import LogEntry, emit
from tests.simulator.launches import SUPPLY, Launched, LaunchMaker, columns
from tests.simulator.pool_traffic import POOL_MANAGER

LAUNCHPAD = "simulated"
_FACTORY = "0xfAc70Fac70Fac70FaC70FAc70FAC70fAc70FaC70"
_REGISTRAR = "0x4E91574A4e91574a4E91574a4e91574A4E91574a"
# Only this kind makes a pool.
_KIND, _OTHER_KIND = 1, 2
_LAUNCHED = "Launched(address indexed,uint8,bytes32,(string,string))"
_OWNED = "Owned(address indexed,address)"
_FEE, _SPACING, _TICK = 10_000, 200, -230_400


def declaration(chain_ids: Iterable[int]) -> str:
    """Return the registry file's table that declares the launchpad."""
    contracts = ", ".join(f'{chain_id} = ["{_FACTORY.lower()}"]' for chain_id in chain_ids)
    owned = f'{{ log = "Owned(address indexed token, address creator)", by = "{_REGISTRAR.lower()}"'
    return f"""
[launchpads.{LAUNCHPAD}]
pool = "v4"
internal_senders = ["hook"]

[[launchpads.{LAUNCHPAD}.launch]]
contracts = {{ {contracts} }}
event = "Launched(address indexed token, uint8 kind, bytes32 poolId, (string name, string symbol) terms)"
when = [{{ value = "kind", is = [{_KIND}] }}]
token = "token"
name = "terms.name"
symbol = "terms.symbol"
creator = [{owned}, having = "token", result = "creator" }}, {{ tx = "from" }}]
pool_id = "poolId"
"""


def declared(maker: LaunchMaker, *, sender: str) -> Launched:
    """Build a launch, among strangers' logs and a launch whose kind does not count."""
    rng = maker.rng
    token, creator, hook, stranger = (maker.address() for _ in range(4))
    name, read_name, symbol, read_symbol = maker.name()
    pool_id = rng.randbytes(32)
    quote, pair = rng.choice(((WETH, "WETH"), (USDC, "USDC"), (ZERO, "ETH")))
    is_owned = rng.random() < 0.8
    launched = emit(_FACTORY, _LAUNCHED, token, _KIND, pool_id, (name, symbol))
    logs = [
        emit(token, TRANSFER, ZERO, _FACTORY, SUPPLY),
        _initialized(stranger, token, quote, rng.randbytes(32), hook=stranger),
        _initialized(POOL_MANAGER, token, quote, pool_id, hook=hook),
        # Another pool with the token, by anyone.
        _initialized(POOL_MANAGER, token, quote, rng.randbytes(32), hook=stranger),
        emit(stranger, _OWNED, token, stranger),
        emit(_REGISTRAR, _OWNED, stranger, stranger),
        *([emit(_REGISTRAR, _OWNED, token, creator)] if is_owned else []),
        LogEntry(address=stranger.lower(), topics=launched.topics, data=launched.data),
        emit(_FACTORY, _LAUNCHED, stranger, _OTHER_KIND, pool_id, (name, symbol)),
        launched,
    ]
    return Launched(
        address=token,
        logs=tuple(logs),
        columns=columns(
            generation=LAUNCHPAD,
            name=read_name,
            symbol=read_symbol,
            decimals=18,
            admin=creator if is_owned else sender,
            msg_sender="",
            requestor_address=creator if is_owned else sender,
            pool_address="0x" + pool_id.hex(),
            paired_token=quote,
            pair=pair,
            factory_address=_FACTORY,
        ),
        shares=(),
        extensions={
            "fees": {
                **{"type": "static", "clankerFee": _FEE / 100, "pairedFee": _FEE / 100},
                **{"baseFee": None, "maxFee": None, "hook_address": None},
            },
            **dict.fromkeys(("vault", "airdrop", "devBuy", "sniperTax", "positions")),
        },
        views={
            (token.lower(), "totalSupply()"): ("uint256", SUPPLY),
            (token.lower(), "decimals()"): ("uint8", 18),
        },
        hook=hook,
    )


def _initialized(by: str, token: str, quote: str, pool_id: bytes, *, hook: str) -> LogEntry:
    low, high = sorted((token, quote), key=str.lower)
    return emit(by, V4_INITIALIZE, pool_id, low, high, _FEE, _SPACING, hook, 2**96, _TICK)
