"""tokens/chains/evm/logs/swap_fees.py: conversions and hook fees beside swaps, recorded and built."""

import pytest
from eth_utils.address import to_checksum_address

from tests.nodes.contract_events import CLAIM_TRANSFER, FEES_SWAPPED
from tests.nodes.launch_builder import STRANGER
from tests.nodes.log_encoding import topic
from tests.nodes.recordings import RECORDED_LAUNCHES, base, mined
from tests.tokens.chains.evm.test_pool_logs import (
    MANAGER,
    POOL,
    ROUTER,
    SWAPPING,
    TRANSFERRED,
    all_swaps,
    claimed_by_hook,
    launch_of,
    log,
    moved_by,
    read,
    v4_swap,
)
from tokens.chains.evm.logs.swap_fees import FEE_TOPICS, attach_reports
from tokens.chains.pool_types import Conversion, HookFee
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.trades.pool_tokens import PoolToken, select_declared

LOCKER, TOKEN, WETH = (to_checksum_address("0x" + digits * 20) for digits in ("10", "70", "42"))
HOOK = to_checksum_address("0x" + "88" * 20)
OTHER_POOL = "0x" + "6f" * 32


def attached(logs):
    """Return the swaps from logs, with fees from the same logs."""
    fees = [entry for entry in logs if entry["topics"][0] in FEE_TOPICS]
    return attach_reports(read(logs), fees, chain=base()).swaps


def at(index, built, **fields):
    return built | {"logIndex": hex(index)} | fields


def swap(index, pool=POOL, **fields):
    built = v4_swap()
    return at(index, built | {"topics": [built["topics"][0], pool, built["topics"][2]]}, **fields)


def converted(index, *, token=TOKEN, by=LOCKER, **fields):
    built = log(by.lower(), FEES_SWAPPED, token, WETH, 5, TOKEN, 7)
    return at(index, built, **fields)


def moved(index, *, caller=HOOK, sender="0x" + "00" * 20, receiver=HOOK, currency=WETH, amount=9, by=MANAGER):
    identity = int(currency, 16) if isinstance(currency, str) else currency
    return at(index, log(by, CLAIM_TRANSFER, caller, sender, receiver, identity, amount))


# Recorded transactions.


@pytest.mark.parametrize("label", [label for label in SWAPPING if not label.startswith("legacy")])
def test_a_recorded_swap_has_its_hooks_fee_on_one_side(label):
    for found in attached(mined(label).logs):
        fees = {fee.currency.lower(): fee.amount for fee in (*found.fees_before, *found.fees_after)}
        neighbours = [entry for entry in mined(label).logs if abs(int(entry["logIndex"], 16) - found.log_index) == 1]
        assert claimed_by_hook(neighbours).items() <= fees.items()
        assert {fee.hook for fee in (*found.fees_before, *found.fees_after)} <= {
            launch_of(launch).fees.hook for launch in RECORDED_LAUNCHES
        }


def test_the_recorded_conversion_is_the_swap_before_its_report():
    conversion, sale = attached(mined("swap-sell-multi-recipients").logs)
    launch = launch_of("deploy-multi-recipients")
    assert conversion.conversions == (Conversion(launch.locker, launch.token),)
    assert sale.conversions == ()
    # The locker pays for it, and it gets what the pool pays.
    settled = [entry for entry in mined("swap-sell-multi-recipients").logs if entry["topics"][0] == TRANSFERRED][4:6]
    paid = moved_by(settled, launch.locker.lower())
    (fee,) = conversion.fees_before
    assert paid == {launch.token.lower(): -conversion.amount0, WETH_OF_BASE: -conversion.amount1 - fee.amount}


WETH_OF_BASE = "0x4200000000000000000000000000000000000006"


def test_no_other_recorded_swap_is_a_conversion():
    reported = {found.tx_hash for found, logs in all_swaps() for each in attached(logs) if each.conversions}
    assert reported == {mined("swap-sell-multi-recipients").hash}


# Built logs.


def test_a_conversion_through_a_router_is_the_last_swap_of_its_pool_before_the_report():
    first, last, other, later = attached([swap(1), swap(3), swap(4, OTHER_POOL), converted(6), swap(8)])
    report = Conversion(LOCKER, TOKEN)
    # The decoder does not know the token's pool here: any pool's last swap may be the conversion.
    assert [each.conversions for each in (first, last, other, later)] == [(), (report,), (report,), ()]
    assert last.sender == ROUTER


def test_each_report_has_its_own_swap():
    found = attached([swap(1), converted(2), swap(3), converted(4), swap(5)])
    assert [each.conversions for each in found] == [(Conversion(LOCKER, TOKEN),)] * 2 + [()]


def test_a_report_of_another_transaction_is_of_none_of_these_swaps():
    (found,) = attached([swap(1), converted(2, transactionHash="0x" + "72" * 32)])
    assert found.conversions == ()


def test_a_report_names_whoever_made_it():
    (found,) = attached([swap(1), converted(2, by=STRANGER)])
    assert found.conversions == (Conversion(to_checksum_address(STRANGER), TOKEN),)


@pytest.mark.parametrize(
    "change",
    [
        lambda built: built | {"topics": built["topics"][:-1]},
        lambda built: built | {"data": built["data"][:-64]},
        lambda built: built | {"topics": [built["topics"][0], "0x" + "ff" * 32, *built["topics"][2:]]},
    ],
)
def test_another_event_with_the_reports_topic_is_none(change):
    (found,) = attached([swap(1), change(converted(2))])
    assert found.conversions == ()


def test_fees_are_of_the_swaps_around_them():
    found = attached([moved(1, amount=1), swap(2), moved(3, amount=2), moved(4, amount=3), swap(5)])
    amounts = [([fee.amount for fee in each.fees_before], [fee.amount for fee in each.fees_after]) for each in found]
    assert amounts == [([1], [2, 3]), ([2, 3], [])]
    assert found[0].fees_before == (HookFee(HOOK, WETH, 1),)


@pytest.mark.parametrize(
    "built",
    [
        moved(1, sender=HOOK, receiver="0x" + "00" * 20),
        moved(1, receiver=STRANGER),
        moved(1, caller=STRANGER),
        moved(1, by=STRANGER.lower()),
        moved(1, currency=1 << 160),
    ],
    ids=["burnt", "for another", "by another", "in another contract", "of no currency"],
)
def test_what_moves_otherwise_is_no_fee(built):
    (found,) = attached([built, swap(2)])
    assert (found.fees_before, found.fees_after) == ((), ())


def test_a_transfer_that_does_not_match_its_event_is_the_nodes_fault():
    built = moved(1)
    with pytest.raises(MalformedResponseError):
        attached([built | {"data": built["data"][:-64]}, swap(2)])


PARTS = "Part(bytes32 indexed id, int256 amount0, int256 amount1)"
TAKEN = "Taken(bytes32 indexed id, int256 own, uint256 other, uint256 quote)"


@pytest.fixture
def hook_chain(tmp_path):
    """Return Base with a launchpad whose hook reports swap parts, and fees."""
    (tmp_path / "own.toml").write_text(
        '[launchpads.x]\npool = "v4"\nswap_parts = [\n'
        f'{{ event = "{PARTS}", pool = "id", amount0 = "amount0", amount1 = "amount1" }},\n'
        f'{{ event = "{TAKEN}", pool = "id", fee0 = ["own", "other"], fee1 = "quote" }},\n]\n'
        f'[[launchpads.x.launch]]\ncontracts = {{ 8453 = ["{HOOK}"] }}\n'
        'event = "Made(address token)"\ntoken = "token"\n'
    )
    return load_registry(tmp_path / "own.toml", launchpads={8453: ("x",)}).chain(8453)


def part(index, *, amount=30, declaration="Part(bytes32 indexed,int256,int256)"):
    return at(index, log(HOOK, declaration, bytes.fromhex(POOL[2:]), amount, -40))


def taken(index, *amounts):
    return at(index, log(HOOK, "Taken(bytes32 indexed,int256,uint256,uint256)", bytes.fromhex(POOL[2:]), *amounts))


def test_a_part_of_a_swap_that_is_not_as_declared_is_left_out(hook_chain):
    """No node errs: each block reading would fail, and nothing after it would be followed."""
    found = read([swap(5)])
    (plain,) = found.swaps
    (with_part,) = attach_reports(found, [part(4)], chain=hook_chain).swaps
    assert (with_part.amount0, with_part.amount1) == (plain.amount0 - 30, plain.amount1 + 40)
    other_layout = part(4, declaration="Part(bytes32,int256,int256)")
    without = attach_reports(found, [other_layout, part(6, amount=2**127)], chain=hook_chain)
    assert without.swaps == [plain]
    assert [(log.log_index, log.emitter, log.launchpad) for log in without.undecodable] == [
        (4, HOOK, "x"),
        (6, HOOK, "x"),
    ]


@pytest.mark.parametrize("first", [1, 3], ids=["before the pool's", "after the pool's"])
def test_reports_of_a_hook_are_of_their_own_swap(hook_chain, first):
    found = read([swap(2), swap(5)])
    reports = [part(first), taken(first, -7, 1, 9), part(first + 3, amount=50), taken(first + 3, 2, 0, 3)]
    own, other = attach_reports(found, reports, chain=hook_chain).swaps
    plain = found.swaps[0]
    assert (own.amount0, other.amount0) == (plain.amount0 - 30, plain.amount0 - 50)
    # Fees are summed sizes.
    assert (own.reported_fees, other.reported_fees) == ((8, 9), (2, 3))


@pytest.fixture
def shared_hook_chain(tmp_path):
    """Return Base with two launchpads that share a hook; the second one has its amounts exchanged, and takes fees."""
    exchanged = "Part(bytes32 indexed id, int256 amount1, int256 amount0)"
    fees = f'{{ event = "{TAKEN}", pool = "id", fee0 = ["own", "other"], fee1 = "quote" }}'
    (tmp_path / "own.toml").write_text(
        "".join(
            f'[launchpads.{name}]\npool = "v4"\nswap_parts = [\n'
            f'{{ event = "{event}", pool = "id", amount0 = "amount0", amount1 = "amount1" }},\n{more}]\n'
            f'[[launchpads.{name}.launch]]\ncontracts = {{ 8453 = ["{HOOK}"] }}\n'
            f'event = "{launch}(address token)"\ntoken = "token"\n'
            for name, launch, event, more in (("x", "Made", PARTS, ""), ("y", "Launched", exchanged, fees))
        )
    )
    return load_registry(tmp_path / "own.toml", launchpads={8453: ("x", "y")}).chain(8453)


def pool_token(generation):
    return PoolToken(1, TOKEN, 18, POOL, WETH, 18, LOCKER, is_currency0=True, generation=generation)


@pytest.mark.parametrize(("generation", "filled"), [("x", (30, -40)), ("y", (-40, 30)), ("v4", (0, 0)), (None, (0, 0))])
def test_parts_of_a_shared_hook_are_those_of_the_tokens_launchpad(shared_hook_chain, generation, filled):
    found = read([swap(2), swap(5), swap(9, OTHER_POOL)])
    reports = attach_reports(found, [part(3), taken(4, -7, 1, 9)], chain=shared_hook_chain)
    tokens = {POOL: pool_token(generation)} if generation else {}
    own, later, other = select_declared(reports.swaps, tokens)
    plain = found.swaps[0]
    assert (plain.amount0 - own.amount0, plain.amount1 - own.amount1) == filled
    # One launchpad declares fees: they apply to every swap that the hook names.
    assert own.reported_fees == (8, 9)
    assert (later.amount0, other.amount0) == (found.swaps[1].amount0, found.swaps[2].amount0)


def test_topics_are_those_of_the_contracts():
    signatures = (
        "FeesSwapped(address,address,uint256,address,uint256)",
        "Transfer(address,address,address,uint256,uint256)",
    )
    assert set(map(topic, signatures)) == FEE_TOPICS
