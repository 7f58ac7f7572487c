"""tokens/chains/solana: swaps in the recorded transaction and in changed ones, and their places in slots."""

import base64
import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solders.pubkey import Pubkey

from development.standins.solana_node import RECORDING
from tests.nodes.solana import recorded
from tests.nodes.solana.changed import signature as signature_of
from tests.nodes.solana.changed import varied
from tests.nodes.solana.forms import (
    EVENT_MARK,
    Json,
    add_changed,
    add_key,
    base58,
    inner,
    keys_of,
    mark,
    outer,
    parsed_of,
    raw_of,
)
from tests.nodes.solana.recorded import solana_chain
from tokens.chains.addresses import decode_base58
from tokens.chains.errors import LogDecodingError, NodeUnavailableError
from tokens.chains.pool_types import LOG_INDEX_LIMIT, Swap
from tokens.chains.solana.bonding_curve_swaps import decode_swaps
from tokens.chains.solana.transaction_forms import parse_transaction
from tokens.trades.pool_prices import pool_price

STRANGER = str(Pubkey.from_bytes(b"\7" * 32))
BUYER = "FezWPm3UEFa4nbF76D45V3gg9eZzhSxfw3tUES1Gr3o1"
# The recorded purchase: 1 SOL in lamports, and the bought tokens with 6 decimals, out of a minted billion.
PAID, BOUGHT = 1_000_000_000, 36_012_275_919_071
SQRT_PRICE = 0x015D911465CA05DD
# The swap is the transaction's fifth outer instruction, and the first two have four inner ones each.
INSTRUCTION = 12
RECORDED_SWAP = Swap(
    pool=recorded.POOL,
    block_number=1004,
    block_time=1795228412,
    tx_hash=recorded.SWAP,
    log_index=INSTRUCTION,
    amount0=-BOUGHT,
    amount1=PAID,
    sqrt_price=SQRT_PRICE << 32,
    sender=BUYER,
    trader=BUYER,
)
# The swap's outer instruction, its inner instructions that emit events, and places in its accounts.
OUTER, OLDER, NEWER = 4, -2, -1
CONFIG, POOL, PAYER = 1, 2, 9
# Offsets in an event behind both discriminators, in the layouts EvtSwap and EvtSwap2.
DIRECTION = 64
HEAD = len(EVENT_MARK) + 8


def u64(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in numbers)


def swaps_of(chain, *signatures):
    return chain.read_with_swaps(list(signatures))[1]


def event_data(raw: Json, place: int) -> bytes:
    return decode_base58(inner(raw, OUTER)[place]["data"])


def change_event(raw: Json, place: int, offset: int, data: bytes) -> None:
    """Replace bytes in an event; `offset` is behind both discriminators."""
    before = event_data(raw, place)
    start = HEAD + offset
    inner(raw, OUTER)[place]["data"] = base58(before[:start] + data + before[start + len(data) :])


def test_it_reads_every_field_of_a_swap(solana):
    facts, swaps = solana.read_with_swaps([recorded.LAUNCH, recorded.SWAP, recorded.CLAIM])
    assert swaps == [RECORDED_SWAP]
    assert list(facts) == [recorded.LAUNCH, recorded.CLAIM]


def test_the_recorded_bytes_are_what_the_program_documents(solana_node):
    raw = raw_of(solana_node, recorded.SWAP)
    keys = bytes(Pubkey.from_string(recorded.POOL)) + bytes(Pubkey.from_string(recorded.CONFIG))
    # A purchase without a referral: the curve gets 0.99 SOL from 1 SOL, and the fees are 0.8 and 0.2 %.
    head, curve, fees = keys + bytes([1, 0]) + u64(PAID) + u64(0), u64(990_000_000), u64(8_000_000, 2_000_000, 0)
    bought, time = u64(BOUGHT) + SQRT_PRICE.to_bytes(16, "little"), u64(1_795_228_411)
    assert decode_base58(outer(raw)[OUTER]["data"]) == mark("global", "swap") + u64(PAID, 0)
    assert (
        event_data(raw, OLDER)
        == EVENT_MARK + mark("event", "EvtSwap") + head + curve + bought + fees + u64(PAID) + time
    )
    # Also the mode, the amount that the curve did not take, and the curve's reserves, now and when it is complete.
    result = u64(PAID) + curve + u64(0) + bought + fees + curve + u64(85_000_000_000)
    assert event_data(raw, NEWER) == EVENT_MARK + mark("event", "EvtSwap2") + head + b"\0" + result + time


def balance_changes(raw: Json) -> dict[tuple[str, str], int]:
    """Return (account, mint) -> the token balance's change in the transaction."""
    keys, changes = keys_of(raw), dict[tuple[str, str], int]()
    for sign, name in ((-1, "preTokenBalances"), (1, "postTokenBalances")):
        for entry in raw["meta"][name]:
            account = keys[entry["accountIndex"]], entry["mint"]
            changes[account] = changes.get(account, 0) + sign * int(entry["uiTokenAmount"]["amount"])
    return changes


def test_its_amounts_are_the_changes_of_the_token_balances(solana, solana_node):
    (swap,) = swaps_of(solana, recorded.SWAP)
    raw = raw_of(solana_node, recorded.SWAP)
    changes = balance_changes(raw)
    keys = keys_of(raw)
    bought, base_vault, quote_vault = (keys[outer(raw)[OUTER]["accounts"][place]] for place in (4, 5, 6))
    assert changes == {
        (base_vault, recorded.MINT): swap.amount0,
        (quote_vault, recorded.WRAPPED_SOL): swap.amount1,
        (bought, recorded.MINT): -swap.amount0,
    }
    # The buyer's account for wrapped SOL is opened, emptied and closed: its coins came from the wallet, which also paid
    # the transaction fee and the rent for the bought token's account.
    spent = raw["meta"]["preBalances"][0] - raw["meta"]["postBalances"][0]
    assert spent - raw["meta"]["fee"] - 2_039_280 == swap.amount1


def test_its_price_is_that_of_the_pool_account_after_it(solana, solana_node):
    (swap,) = swaps_of(solana, recorded.SWAP)
    # state/virtual_pool.rs: behind the discriminator a tracker with 64 bytes, five keys, four reserves and fees, and
    # the partner's two fees. No later transaction in the recording changes the price.
    data = base64.b64decode(solana_node.accounts[recorded.POOL]["data"][0])
    place = 8 + 64 + 5 * 32 + 4 * 8 + 2 * 8
    assert swap.sqrt_price == int.from_bytes(data[place : place + 16], "little") << 32
    price = pool_price(swap.sqrt_price, decimals=6, quote_decimals=9, is_currency0=True)
    # The purchase's average price is between the launch price and this one, and its fee is 1 %.
    assert price is not None
    assert Decimal("0.9") < Decimal(PAID) / BOUGHT / 1000 / price < Decimal("1.02")


def sold(raw: Json) -> None:
    for place in (OLDER, NEWER):
        change_event(raw, place, DIRECTION, b"\0")


def test_it_reads_a_sale(solana, solana_node):
    (swap,) = swaps_of(solana, add_changed(solana_node, recorded.SWAP, sold))
    assert (swap.amount0, swap.amount1) == (PAID, -BOUGHT)


def before_version_0_1_6(raw: Json) -> None:
    del inner(raw, OUTER)[NEWER]


def with_a_transfer_hook(raw: Json) -> None:
    outer(raw)[OUTER]["data"] = base58(mark("global", "swap2_with_transfer_hook") + u64(PAID, 0) + b"\0" * 5)
    newer = event_data(raw, NEWER)
    event = EVENT_MARK + mark("event", "EvtSwap2WithTransferHook") + newer[HEAD:]
    inner(raw, OUTER)[NEWER]["data"] = base58(event)
    del inner(raw, OUTER)[OLDER]


def by_swap2(raw: Json) -> None:
    outer(raw)[OUTER]["data"] = base58(mark("global", "swap2") + u64(PAID, 0) + b"\1")


def with_the_end_of_the_curve(raw: Json) -> None:
    """Add the event that a swap emits when it completes the curve."""
    complete = copy.deepcopy(inner(raw, OUTER)[NEWER])
    complete["data"] = base58(EVENT_MARK + mark("event", "EvtCurveComplete") + b"\1" * 80)
    inner(raw, OUTER).append(complete)


def newest_event(*, price: int = SQRT_PRICE, hook: str = "") -> bytes:
    """Return the swap in version 0.2.2's layout; both mints keep fees, beside what the pool receives and pays."""
    keys = bytes(Pubkey.from_string(recorded.POOL)) + bytes(Pubkey.from_string(recorded.CONFIG))
    # A purchase with an exact input, without a referral and with fees in the quote.
    amounts, fees = u64(PAID + 5, PAID, BOUGHT, BOUGHT - 7), u64(8_000_000, 2_000_000, 0)
    end = price.to_bytes(16, "little") + u64(990_000_000, 1_795_228_411)
    return EVENT_MARK + mark("event", f"EvtSwap3{hook}") + keys + bytes([1, 0, 0, 0]) + amounts + fees + end


def with_the_newest_event(**of: Any):
    """Add an event in version 0.2.2's layout after the earlier ones."""

    def change(raw: Json) -> None:
        inner(raw, OUTER).append(inner(raw, OUTER)[NEWER] | {"data": base58(newest_event(**of))})

    return change


def with_the_newest_event_only(raw: Json) -> None:
    del inner(raw, OUTER)[OLDER]
    inner(raw, OUTER)[NEWER]["data"] = base58(newest_event(hook="WithTransferHook"))


def for_another_fee_payer(raw: Json) -> None:
    """Have another program's account pay for the swap; it does not sign the message."""
    outer(raw)[OUTER]["accounts"][PAYER] = add_key(raw, STRANGER)


@pytest.mark.parametrize(
    ("change", "sender"),
    [
        (before_version_0_1_6, BUYER),
        (with_a_transfer_hook, BUYER),
        (by_swap2, BUYER),
        (with_the_newest_event(), BUYER),
        (with_the_newest_event_only, BUYER),
        (with_the_end_of_the_curve, BUYER),
        (for_another_fee_payer, STRANGER),
    ],
)
def test_it_reads_a_swap_of_each_known_form(solana, solana_node, change, sender):
    signature = add_changed(solana_node, recorded.SWAP, change)
    (swap,) = swaps_of(solana, signature)
    same = RECORDED_SWAP._replace(tx_hash=signature, block_number=1006, sender=sender)
    assert swap == same


def without_events(raw: Json) -> None:
    del inner(raw, OUTER)[OLDER:]


def by_an_unknown_instruction(raw: Json) -> None:
    outer(raw)[OUTER]["data"] = base58(mark("global", "swap_of_next_year") + u64(PAID, 0))


def with_too_few_accounts(raw: Json) -> None:
    del outer(raw)[OUTER]["accounts"][PAYER:]


def in_another(place: int):
    def change(raw: Json) -> None:
        outer(raw)[OUTER]["accounts"][place] = add_key(raw, STRANGER)

    return change


def in_neither_direction(raw: Json) -> None:
    for place in (OLDER, NEWER):
        change_event(raw, place, DIRECTION, b"\2")


def changed_in_one(place: int, offset: int):
    def change(raw: Json) -> None:
        before = event_data(raw, place)[HEAD + offset]
        change_event(raw, place, offset, bytes([before ^ 1]))

    return change


def with_one_more_byte(raw: Json) -> None:
    inner(raw, OUTER)[NEWER]["data"] = base58(event_data(raw, NEWER) + b"\0")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_events, "no event"),
        (by_an_unknown_instruction, "no known instruction"),
        (with_too_few_accounts, "too few accounts"),
        (in_another(CONFIG), "contradicts"),
        (in_another(POOL), "contradicts"),
        (in_neither_direction, "contradicts"),
        # Direction, amount that was bought, price, and amount that was paid.
        *((changed_in_one(OLDER, offset), "differ") for offset in (DIRECTION, 90, 98, 138)),
        *((changed_in_one(NEWER, offset), "differ") for offset in (DIRECTION, 83, 107, 115)),
        (with_the_newest_event(price=SQRT_PRICE + 1), "differ"),
    ],
)
def test_it_refuses_a_swap_that_is(solana, solana_node, change, reason):
    signature = add_changed(solana_node, recorded.SWAP, change)
    with pytest.raises(LogDecodingError, match=reason):
        swaps_of(solana, signature)
    # Without its swaps, the transaction is read as before.
    assert solana.read_transactions([signature]) == {}


def test_fields_that_the_program_appends_to_an_event_are_ignored(solana, solana_node):
    signature = add_changed(solana_node, recorded.SWAP, with_one_more_byte)
    (swap,) = swaps_of(solana, signature)
    (known,) = swaps_of(solana, recorded.SWAP)
    assert (swap.pool, swap.amount0, swap.amount1) == (known.pool, known.amount0, known.amount1)
    assert swap.sqrt_price == known.sqrt_price


def failed(raw: Json) -> None:
    raw["meta"]["err"] = {"InstructionError": [4, {"Custom": 6001}]}


def by_another_program(raw: Json) -> None:
    """Copy a swap to an unknown program, with the same bytes and the same accounts."""
    stranger = add_key(raw, STRANGER)
    outer(raw)[OUTER]["programIdIndex"] = stranger
    for place in (OLDER, NEWER):
        inner(raw, OUTER)[place]["programIdIndex"] = stranger


@pytest.mark.parametrize("change", [failed, by_another_program])
def test_it_reads_no_swap_where_none_was_made(solana, solana_node, change):
    assert swaps_of(solana, add_changed(solana_node, recorded.SWAP, change)) == []


def through_a_router(raw: Json) -> None:
    """Move the swap and its copy into one instruction for an unknown program."""
    swap, parts = outer(raw)[OUTER] | {"stackHeight": 2}, inner(raw, OUTER)
    outer(raw)[OUTER] = {"programIdIndex": add_key(raw, STRANGER), "accounts": [], "data": base58(b"go")}
    parts[:] = [swap, *copy.deepcopy(parts), copy.deepcopy(swap), *copy.deepcopy(parts)]


def test_it_reads_each_swap_of_a_router(solana, solana_node):
    swaps = swaps_of(solana, add_changed(solana_node, recorded.SWAP, through_a_router))
    assert [swap.log_index for swap in swaps] == [INSTRUCTION + 1, INSTRUCTION + 6]
    assert {(swap.amount0, swap.sender, swap.trader) for swap in swaps} == {(-BOUGHT, BUYER, BUYER)}


def add_swaps(node, count, *, slot=2000):
    """Add swap copies to a slot; return their signatures."""
    made = []
    for number in range(count):
        forms = varied(node.transactions[recorded.SWAP], keys={recorded.SWAP: signature_of(f"{slot} {number}")})
        for form in forms.values():
            form["slot"] = slot
        made.append(node.hold(forms))
    return made


def test_a_swap_has_the_place_of_its_transaction_in_the_slot(solana, solana_node):
    swaps = swaps_of(solana, *add_swaps(solana_node, 3))
    assert [swap.log_index for swap in swaps] == [INSTRUCTION, 128 + INSTRUCTION, 256 + INSTRUCTION]


def blocks_of(node):
    return [call["params"][0] for call in node.calls if call["method"] == "getBlock"]


def test_a_slot_is_read_once_and_only_for_its_swaps(solana, solana_node):
    solana.read_with_swaps([recorded.SPL_MINT, recorded.LAUNCH, recorded.CLAIM])
    assert blocks_of(solana_node) == []
    made = [name for slot in range(2000, 2020) for name in add_swaps(solana_node, 2, slot=slot)]
    swaps_of(solana, *made)
    assert blocks_of(solana_node) == list(range(2000, 2020))


def requested_at_once(node):
    return [count for request in node.received if (count := request.content.count(b'"getBlock"'))]


def test_blocks_are_requested_in_batches_as_a_node_allows(solana_info, solana_node):
    made = [name for slot in range(2000, 2010) for name in add_swaps(solana_node, 1, slot=slot)]
    solana_chain(solana_info, solana_node.url).read_with_swaps(made)
    assert requested_at_once(solana_node) == [8, 2]
    solana_node.received.clear()
    solana_chain(solana_info, solana_node.url, batch_size=4).read_with_swaps(made)
    assert requested_at_once(solana_node) == [4, 4, 2]


def test_blocks_that_are_too_large_are_requested_by_fewer(solana_info, solana_node):
    made = [name for slot in range(2000, 2010) for name in add_swaps(solana_node, 1, slot=slot)]
    filler = [signature_of(f"of others {number}") for number in range(300)]
    solana_node._methods["getBlock"] = lambda slot, _: {"signatures": [*filler, made[slot - 2000]]}
    chain = solana_chain(solana_info, solana_node.url, initial_backoff=0.0, attempts=1, max_response_bytes=120_000)
    swaps = swaps_of(chain, *made)
    assert {swap.log_index for swap in swaps} == {300 * 128 + INSTRUCTION}
    assert requested_at_once(solana_node) == [8, 4, 4, 2]


def with_place(node, signature, place):
    for form in node.transactions[signature].values():
        form["transactionIndex"] = place


def test_a_place_that_the_node_returns_needs_no_further_call(solana, solana_node):
    first, second = add_swaps(solana_node, 2)
    with_place(solana_node, first, 0)
    with_place(solana_node, second, 1)
    swaps = swaps_of(solana, first, second)
    assert [swap.log_index for swap in swaps] == [INSTRUCTION, 128 + INSTRUCTION]
    assert blocks_of(solana_node) == []


def test_encodings_with_different_places_are_a_fault_of_the_node(solana, solana_node):
    (made,) = add_swaps(solana_node, 1)
    solana_node.transactions[made]["json"]["transactionIndex"] = 7
    with pytest.raises(NodeUnavailableError):
        swaps_of(solana, made)


@pytest.mark.parametrize("place", [8191, 8192])
def test_a_place_beyond_the_numbers_of_a_slot_is_refused(solana, solana_node, place):
    (made,) = add_swaps(solana_node, 1)
    with_place(solana_node, made, place)
    if place == 8191:
        (swap,) = swaps_of(solana, made)
        assert swap.log_index == LOG_INDEX_LIMIT - 128 + INSTRUCTION
    else:
        with pytest.raises(LogDecodingError, match="no number"):
            swaps_of(solana, made)


@pytest.mark.parametrize(
    "block",
    [None, {}, {"signatures": None}, {"signatures": []}, {"signatures": [recorded.SWAP] * 2}, "x", []],
)
def test_a_block_without_the_transaction_is_a_fault_of_the_node(solana_info, solana_node, block):
    with type(solana_node)() as other:
        solana_node._methods["getBlock"] = lambda *_: block
        chain = solana_chain(solana_info, solana_node.url, other.url, initial_backoff=0.0, attempts=1)
        assert swaps_of(chain, recorded.SWAP) == [RECORDED_SWAP]
        assert blocks_of(other) == [1004]
        with pytest.raises(NodeUnavailableError):
            swaps_of(solana_chain(solana_info, solana_node.url, initial_backoff=0.0, attempts=1), recorded.SWAP)


def test_a_node_without_blocks_is_skipped(solana_info, solana_node):
    with type(solana_node)() as other:
        solana_node.refused["getBlock"] = {"code": -32601, "message": "Method not found"}
        chain = solana_chain(solana_info, solana_node.url, other.url, initial_backoff=0.0, attempts=1)
        assert swaps_of(chain, recorded.SWAP) == [RECORDED_SWAP]


RECORDED = json.loads(RECORDING.read_text())["transactions"][recorded.SWAP]["json"]


@given(
    place=st.sampled_from([OLDER, NEWER]), at=st.integers(HEAD, HEAD + 150), bits=st.integers(1, 255), cut=st.booleans()
)
def test_a_damaged_event_is_refused_or_changes_nothing(solana_info, place, at, bits, cut):
    raw = copy.deepcopy(RECORDED)
    data = event_data(raw, place)
    inner(raw, OUTER)[place]["data"] = base58(data[:at] + (b"" if cut else bytes([data[at] ^ bits]) + data[at + 1 :]))
    transaction = parse_transaction(recorded.SWAP, raw=raw, parsed=parsed_of(raw))
    try:
        (swap,) = decode_swaps(solana_info, transaction)
    except LogDecodingError:
        return
    assert swap == RECORDED_SWAP
