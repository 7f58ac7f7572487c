"""tokens/chains/solana/launch_decoding.py: modified launches and claims, accepted or rejected."""

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solders.pubkey import Pubkey

from tests.nodes.solana import recorded
from tests.nodes.solana.forms import (
    EVENT_MARK,
    Json,
    add_changed,
    add_key,
    add_transaction,
    base58,
    borsh_text,
    inner,
    mark,
    outer,
    raw_of,
)
from tests.nodes.solana.recorded import allow_list, solana_chain
from tests.tokens.chains.solana.test_solana_launch import RECORDED_CLAIM, RECORDED_LAUNCH
from tokens.chains.addresses import decode_base58
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.registry.chains import load_registry

ARGUMENTS = [borsh_text("Launch Sol"), borsh_text("LSOL"), borsh_text("https://example.org/lsol.json")]
PLAIN = mark("global", "initialize_virtual_pool_with_spl_token")
STRANGER = str(Pubkey.new_unique())
# Indices of the launch's accounts in its instruction's accounts.
CONFIG, CREATOR, BASE_MINT, _, POOL, PAYER = 0, 2, 3, 4, 5, 10


def data_of(entry: Json) -> bytes:
    return decode_base58(entry["data"])


def set_data(entry: Json, data: bytes) -> None:
    entry["data"] = base58(data)


def event_of(raw: Json, number: int = 0) -> Json:
    """Return the event that the recorded launch or claim ends with."""
    return inner(raw, number)[-1]


def test_the_recorded_bytes_are_what_the_program_documents(solana_node):
    raw = raw_of(solana_node, recorded.LAUNCH)
    assert data_of(outer(raw)[0]) == PLAIN + b"".join(ARGUMENTS)
    keys = [recorded.POOL, recorded.CONFIG, recorded.CREATOR, recorded.MINT]
    event_keys = b"".join(bytes(Pubkey.from_string(key)) for key in keys)
    assert data_of(event_of(raw)).startswith(EVENT_MARK + mark("event", "EvtInitializePool") + event_keys)


@pytest.mark.parametrize(
    "arguments",
    [
        b"",
        b"\0\0\0",
        b"".join(ARGUMENTS)[:-1],
        b"".join(ARGUMENTS[:2]),
        b"\xff\xff\xff\xff" + b"".join(ARGUMENTS)[4:],
        ARGUMENTS[0] + borsh_text(b"\xff\xfe") + ARGUMENTS[2],
    ],
    ids=["none", "half a length", "cut short", "no URI", "a length beyond the end", "no UTF-8"],
)
def test_it_refuses_a_launch_whose_arguments_are(solana, solana_node, arguments):
    signature = add_changed(solana_node, recorded.LAUNCH, lambda raw: set_data(outer(raw)[0], PLAIN + arguments))
    with pytest.raises(LogDecodingError, match="can't be decoded"):
        solana.read_transaction(signature)


def test_bytes_behind_the_arguments_of_a_launch_are_nothing_to_it_nor_to_the_program(solana, solana_node):
    data = PLAIN + b"".join(ARGUMENTS) + b"more"
    (launch,) = solana.read_transaction(
        add_changed(solana_node, recorded.LAUNCH, lambda raw: set_data(outer(raw)[0], data))
    ).launches
    assert (launch.token, launch.name, launch.uri) == (recorded.MINT, RECORDED_LAUNCH.name, RECORDED_LAUNCH.uri)


def test_it_reads_nothing_of_what_other_programs_are_handed(solana, solana_node):
    def change(raw: Json) -> None:
        stranger = {"programIdIndex": add_key(raw, STRANGER), "accounts": [], "data": "z" * 13_000}
        inner(raw).extend(stranger for _ in range(60))

    assert solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change)).launches


def test_it_refuses_more_than_a_launch_has_room_for(solana, solana_node):
    arguments = borsh_text("A name of its own") + borsh_text("LONG") + borsh_text("u" * 1_500)
    signature = add_changed(solana_node, recorded.LAUNCH, lambda raw: set_data(outer(raw)[0], PLAIN + arguments))
    with pytest.raises(LogDecodingError, match="more than 2048 characters"):
        solana.read_transaction(signature)


def without_event(raw: Json) -> None:
    inner(raw).pop()


def with_two_events(raw: Json) -> None:
    inner(raw).append(copy.deepcopy(event_of(raw)))


def with_an_event_by_another_program(raw: Json) -> None:
    event_of(raw)["programIdIndex"] = add_key(raw, STRANGER)


def with_an_event_under_another_authority(raw: Json) -> None:
    event_of(raw)["accounts"] = [add_key(raw, STRANGER)]


def with_an_event_before_it(raw: Json) -> None:
    """Move the event to an earlier outer instruction for the same program, with unknown data."""
    entry = copy.deepcopy(outer(raw)[0]) | {"data": base58(b"elsewhere")}
    outer(raw).insert(0, entry)
    raw["meta"]["innerInstructions"] = [
        {"index": 0, "instructions": [inner(raw).pop()]},
        {"index": 1, "instructions": inner(raw)},
    ]


def with_an_event_after_it(raw: Json) -> None:
    """Move the event to a later outer instruction for another program."""
    event = inner(raw).pop()
    outer(raw).append({"programIdIndex": add_key(raw, STRANGER), "accounts": [], "data": base58(b"go")})
    raw["meta"]["innerInstructions"].append({"index": 1, "instructions": [event]})


def contradicting(place: int):
    def change(raw: Json) -> None:
        """Replace the account at this index in the instruction, but not in the event."""
        outer(raw)[0]["accounts"][place] = add_key(raw, STRANGER)

    return change


@pytest.mark.parametrize(
    "change",
    [
        without_event,
        with_two_events,
        with_an_event_by_another_program,
        with_an_event_under_another_authority,
        with_an_event_after_it,
        *(contradicting(place) for place in (CREATOR, BASE_MINT, POOL)),
    ],
)
def test_it_refuses_a_launch_without_one_equal_event(solana, solana_node, change):
    signature = add_changed(solana_node, recorded.LAUNCH, change)
    with pytest.raises(LogDecodingError, match="exactly one matching event"):
        solana.read_transaction(signature)


def test_fields_that_the_program_appends_to_an_event_are_ignored(solana, solana_node):
    def change(raw: Json) -> None:
        set_data(event_of(raw), data_of(event_of(raw)) + b"\0" * 8)

    (launch,) = solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change)).launches
    assert launch.token == recorded.MINT


@pytest.mark.parametrize("junk", [b"", b"\0" * 3, b"\0" * 100])
def test_it_refuses_a_launch_whose_event_can_not_be_decoded(solana, solana_node, junk):
    def change(raw: Json) -> None:
        set_data(event_of(raw), EVENT_MARK + mark("event", "EvtInitializePool") + junk)

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    with pytest.raises(LogDecodingError, match="can't be decoded"):
        solana.read_transaction(signature)


def test_it_refuses_a_launch_whose_event_is_of_another_instruction(solana, solana_node):
    signature = add_changed(solana_node, recorded.LAUNCH, with_an_event_before_it)
    with pytest.raises(LogDecodingError):
        solana.read_transaction(signature)


def test_it_refuses_a_launch_by_an_unknown_instruction(solana, solana_node):
    unknown = mark("global", "initialize_virtual_pool_of_next_year") + b"".join(ARGUMENTS)
    signature = add_changed(solana_node, recorded.LAUNCH, lambda raw: set_data(outer(raw)[0], unknown))
    with pytest.raises(LogDecodingError, match="no known instruction"):
        solana.read_transaction(signature)


def test_it_ignores_an_unknown_instruction_of_a_stranger(solana_node):
    unknown = mark("global", "initialize_virtual_pool_of_next_year") + b"".join(ARGUMENTS)
    signature = add_changed(solana_node, recorded.LAUNCH, lambda raw: set_data(outer(raw)[0], unknown))
    with pytest.raises(LaunchNotFoundError):
        solana_chain(load_registry().solana, solana_node.url).read_transaction(signature)


def test_an_event_that_another_program_made_up_counts_for_nothing(solana, solana_node):
    def change(raw: Json) -> None:
        """Copy a launch to an unknown program, with the same bytes and the same accounts."""
        stranger = add_key(raw, STRANGER)
        outer(raw)[0]["programIdIndex"] = event_of(raw)["programIdIndex"] = stranger

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    with pytest.raises(LaunchNotFoundError):
        solana.read_transaction(signature)


def test_it_refuses_too_few_accounts(solana, solana_node):
    def change(raw: Json) -> None:
        del outer(raw)[0]["accounts"][PAYER:]

    with pytest.raises(LogDecodingError, match="too few accounts"):
        solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change))


def test_it_recognises_a_launch_by_its_payer_where_a_program_signed_for_it(solana_node, tmp_path):
    """Read a launch paid by an account that a launchpad's own program owns; it does not sign the message."""
    info = load_registry(allow_list(tmp_path / "chains.toml", role="launch_creator", address=STRANGER)).solana

    def change(raw: Json) -> None:
        by_another_program(raw)
        inner(raw)[0]["accounts"][PAYER] = add_key(raw, STRANGER)

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    (launch,) = solana_chain(info, solana_node.url).read_transaction(signature).launches
    assert (launch.token, launch.admin) == (recorded.MINT, recorded.CREATOR)


@pytest.mark.parametrize("place", [6, 7, 8, 9, 11, 12])
def test_a_creator_of_the_launchpads_that_is_only_named_counts_for_nothing(solana_node, tmp_path, place):
    info = load_registry(allow_list(tmp_path / "chains.toml", role="launch_creator", address=STRANGER)).solana

    def change(raw: Json) -> None:
        outer(raw)[0]["accounts"][place] = add_key(raw, STRANGER)
        outer(raw).append({"programIdIndex": add_key(raw, STRANGER), "accounts": [add_key(raw, STRANGER)], "data": ""})

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    with pytest.raises(LaunchNotFoundError):
        solana_chain(info, solana_node.url).read_transaction(signature)


def test_it_refuses_a_launch_that_was_undone(solana, solana_node):
    def change(raw: Json) -> None:
        raw["meta"]["err"] = {"InstructionError": [0, {"Custom": 6001}]}

    with pytest.raises(LaunchNotFoundError, match="the transaction failed"):
        solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change))


def by_another_program(raw: Json) -> None:
    """Move the launch to an inner instruction in a call to an unknown program."""
    launch = outer(raw).pop() | {"stackHeight": 2}
    outer(raw).append({"programIdIndex": add_key(raw, STRANGER), "accounts": [], "data": base58(b"go")})
    inner(raw).insert(0, launch)


def test_it_reads_a_launch_that_another_program_made(solana, solana_node):
    (launch,) = solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, by_another_program)).launches
    assert (launch.token, launch.log_index, launch.name) == (recorded.MINT, 1, "Launch Sol")


def renamed(entry: Json, old: str, new: str, raw: Json) -> None:
    """Replace an account, in an instruction and in its bytes."""
    places = raw["transaction"]["message"]["accountKeys"]
    entry["accounts"] = [add_key(raw, new) if places[place] == old else place for place in entry["accounts"]]
    data = data_of(entry).replace(bytes(Pubkey.from_string(old)), bytes(Pubkey.from_string(new)))
    set_data(entry, data)


def test_it_reads_several_launches_of_one_transaction(solana, solana_node):
    other_mint, token_pool = str(Pubkey.new_unique()), str(Pubkey.new_unique())

    def change(raw: Json) -> None:
        outer(raw).append(copy.deepcopy(outer(raw)[0]))
        copy_again = copy.deepcopy(inner(raw))
        for entry in [outer(raw)[1], *copy_again]:
            renamed(entry, recorded.MINT, other_mint, raw)
            renamed(entry, recorded.POOL, token_pool, raw)
        raw["meta"]["innerInstructions"].append({"index": 1, "instructions": copy_again})

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    facts = solana.read_transaction(signature)
    assert [(launch.token, launch.log_index) for launch in facts.launches] == [(recorded.MINT, 0), (other_mint, 16)]
    assert facts.launches[1].pool.address == token_pool


@pytest.mark.parametrize(
    ("name", "payer"),
    [
        ("initialize_virtual_pool_with_token2022", 8),
        ("initialize_virtual_pool_with_spl_token2", 11),
        ("initialize_virtual_pool_with_token2022_2", 9),
        ("initialize_virtual_pool_with_token2022_transfer_hook", 9),
    ],
)
def test_it_reads_a_launch_by_each_known_instruction(solana_node, tmp_path, name, payer):
    def change(raw: Json) -> None:
        set_data(outer(raw)[0], mark("global", name) + b"".join(ARGUMENTS))
        accounts = outer(raw)[0]["accounts"]
        accounts[payer], accounts[PAYER] = accounts[PAYER], accounts[payer]
        if "transfer_hook" in name:
            event = data_of(event_of(raw))[16:]
            set_data(event_of(raw), EVENT_MARK + mark("event", "EvtInitializePoolWithTransferHook") + event)

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    for role, address in (("launch_config", recorded.CONFIG), ("launch_creator", recorded.PARTNER)):
        info = load_registry(allow_list(tmp_path / "chains.toml", role=role, address=address)).solana
        (launch,) = solana_chain(info, solana_node.url).read_transaction(signature).launches
        assert (launch.token, launch.pool) == (recorded.MINT, RECORDED_LAUNCH.pool)


def claimed_by(name: str, event: str, accounts: list[str], amounts: tuple[int, int]):
    def change(raw: Json) -> None:
        claim = outer(raw)[2]
        claim["accounts"] = [add_key(raw, account) for account in accounts]
        set_data(claim, mark("global", name) + b"\xff" * 16)
        event_keys = bytes(Pubkey.from_string(recorded.POOL)) + b"".join(
            amount.to_bytes(8, "little") for amount in amounts
        )
        set_data(event_of(raw, 2), EVENT_MARK + mark("event", event) + event_keys)

    return change


BY_PARTNER = [STRANGER, recorded.CONFIG, recorded.POOL, *[STRANGER] * 4]
BY_PARTNER += [recorded.MINT, recorded.WRAPPED_SOL, recorded.PARTNER, STRANGER, STRANGER]
BY_CREATOR = [STRANGER, recorded.POOL, *[STRANGER] * 4, recorded.MINT, recorded.WRAPPED_SOL, recorded.CREATOR]


@pytest.mark.parametrize(
    ("name", "event", "accounts", "paid_to", "claimer"),
    [
        ("claim_trading_fee", "EvtClaimTradingFee", BY_PARTNER, "partner", recorded.PARTNER),
        ("claim_trading_fee2", "EvtClaimTradingFee", BY_PARTNER, "partner", recorded.PARTNER),
        ("claim_trading_fee2", "EvtClaimTradingFeeWithTransferHook", BY_PARTNER, "partner", recorded.PARTNER),
        ("claim_creator_trading_fee", "EvtClaimCreatorTradingFee", BY_CREATOR, "creator", recorded.CREATOR),
        ("claim_creator_trading_fee2", "EvtClaimCreatorTradingFee", BY_CREATOR, "creator", recorded.CREATOR),
        (
            "claim_creator_trading_fee2",
            "EvtClaimCreatorTradingFeeWithTransferHook",
            BY_CREATOR,
            "creator",
            recorded.CREATOR,
        ),
    ],
)
def test_it_reads_a_claim_by_each_known_instruction(solana, solana_node, name, event, accounts, paid_to, claimer):
    signature = add_changed(solana_node, recorded.CLAIM, claimed_by(name, event, accounts, (7, 2**64 - 1)))
    (claim,) = solana.read_transaction(signature).pool_claims
    assert (claim.paid_to, claim.claimer, claim.pool) == (paid_to, claimer, recorded.POOL)
    assert claim.amounts == {recorded.MINT: 7, recorded.WRAPPED_SOL: 2**64 - 1}


@pytest.mark.parametrize(
    ("name", "event", "accounts"),
    [
        ("claim_trading_fee", "EvtClaimCreatorTradingFee", BY_PARTNER),
        ("claim_creator_trading_fee", "EvtClaimTradingFee", BY_CREATOR),
        ("claim_creator_trading_fee", "EvtClaimCreatorTradingFee", BY_CREATOR[:8]),
        ("claim_creator_trading_fee", "EvtClaimCreatorTradingFee", [STRANGER, STRANGER, *BY_CREATOR[2:]]),
    ],
    ids=["the creator's event", "the partner's event", "too few accounts", "another pool"],
)
def test_it_refuses_a_claim_with(solana, solana_node, name, event, accounts):
    signature = add_changed(solana_node, recorded.CLAIM, claimed_by(name, event, accounts, (7, 8)))
    with pytest.raises(LogDecodingError, match="pays out fees"):
        solana.read_transaction(signature)


def test_it_reads_none_of_many_where_one_can_not_be_decoded(solana, solana_node):
    with pytest.raises(LogDecodingError):
        solana.read_transactions([recorded.CLAIM, add_changed(solana_node, recorded.LAUNCH, without_event)])


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Return bytes after one was dropped, changed or inserted."""
    place = draw(st.integers(0, len(data) - 1))
    value = draw(st.binary(max_size=2))
    return data[:place] + value + data[place + 1 :]


@settings(max_examples=150)
@given(sample=st.data(), of_event=st.booleans(), signature=st.sampled_from([recorded.LAUNCH, recorded.CLAIM]))
def test_damaged_bytes_end_in_a_refusal_or_change_nothing_that_the_event_holds(
    solana, solana_node, sample, of_event, signature
):
    raw = raw_of(solana_node, signature)
    number = 0 if signature == recorded.LAUNCH else 2
    entry = event_of(raw, number) if of_event else outer(raw)[number]
    set_data(entry, sample.draw(damaged(data_of(entry))))
    try:
        facts = solana.read_transaction(add_transaction(solana_node, raw))
    except (LogDecodingError, LaunchNotFoundError):
        return
    for launch in facts.launches:
        assert replace(launch, tx_hash=recorded.LAUNCH, block_number=1003) == RECORDED_LAUNCH
    for claim in facts.pool_claims:
        assert replace(claim, amounts=RECORDED_CLAIM.amounts) == RECORDED_CLAIM
