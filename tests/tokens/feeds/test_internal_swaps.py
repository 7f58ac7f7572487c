"""tokens/feeds/checking/internal_swaps.py: the hook in a pool's own start counts, or else the launch pool's."""

from fractions import Fraction

import orjson
import pytest
from eth_utils.address import to_checksum_address

from development.standins.loopback import Reply, answer_calls
from tests.nodes.contract_events import V4_INITIALIZE
from tests.nodes.json_server import serve_json
from tests.nodes.log_encoding import emit, log_json
from tests.tokens.feeds.test_chain_reserves import PAIR
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient
from tokens.feeds.checking.chain_logs import ChainTrade, PoolLog
from tokens.feeds.checking.internal_swaps import InternalSwaps

FACTORY, HOOK, LATER_HOOK = (to_checksum_address("0x" + digits * 20) for digits in ("88", "77", "66"))
ZERO = "0x" + "00" * 20
LAUNCH, LATER = PAIR.pool, "0x" + "6f" * 32
REGISTRY = f"""
[launchpads.x]
pool = "v4"
internal_senders = ["hook"]
[[launchpads.x.launch]]
contracts = {{ 8453 = ["{FACTORY}"] }}
event = "Made(address token)"
token = "token"
"""


def started(pool, hook, info):
    """Return the PoolManager's log about a pool's start."""
    return log_json(
        emit(str(info.v4_pool_manager), V4_INITIALIZE, bytes.fromhex(pool[2:]), ZERO, ZERO, 0, 60, hook, 2**96, 0)
    )


def swap_by(sender, pair):
    log = PoolLog(pair.pool, "swap", 10, 1, 1, {"sender": sender})
    return ChainTrade(log, pair, 0, is_buy=True, is_conversion=False, token=1, quote=1, price=Fraction(1))


@pytest.mark.parametrize(
    ("later_hook", "internal"), [(None, HOOK), (ZERO, HOOK), (LATER_HOOK, LATER_HOOK)], ids=["older", "none", "own"]
)
def test_a_later_pool_without_a_hook_has_the_launch_pools(tmp_path, later_hook, internal):
    (tmp_path / "own.toml").write_text(REGISTRY)
    info = load_registry(tmp_path / "own.toml", launchpads={8453: ("x",)}).chain(8453)
    logs = {LAUNCH: [started(LAUNCH, HOOK, info)]} | ({LATER: [started(LATER, later_hook, info)]} if later_hook else {})

    def result(call):
        is_logs = call["method"] == "eth_getLogs"
        return logs.get(call["params"][0]["topics"][1][0], []) if is_logs else hex(8453)

    pair = PAIR._replace(factory=FACTORY)
    pairs = {LAUNCH: pair, LATER: pair._replace(pool=LATER, block_number=9, since=9 << 20)}
    with serve_json(lambda body: Reply(orjson.dumps(answer_calls(body, result)))) as url:
        internal_swaps = InternalSwaps(Chain(info=info, rpc=RpcClient(chain_id=8453, urls=(url,), attempts=1)))
        # The launch pool is not among those that are checked.
        internal_swaps.load(pairs, [LATER])
    swaps = [swap_by(sender, pairs[LATER]) for sender in (HOOK, LATER_HOOK, FACTORY)]
    assert [swap.log.arguments["sender"] for swap in map(internal_swaps.mark, swaps) if swap.is_conversion] == [
        internal
    ]
