"""tokens/chains/evm/logs/log_decoding.py: decoding filtered logs, against full reads of the same transactions."""

import eth_abi
import pytest

from tests.nodes import contract_events as abi
from tests.nodes.launch_builder import (
    BLOCK_HASH,
    BLOCK_TIME,
    DEPLOYER,
    FACTORY_V4,
    HOOK_V4,
    LOCKER_V4,
    MEV_MODULE_V4,
    POOL_ID,
    SENDER,
    STRANGER,
    SUPPLY,
    TOKEN,
    TX_HASH,
    USDC,
    WETH,
    event,
    transaction,
    v1_launch,
    v3_launch,
    v4_created,
    v4_launch,
    v31_launch,
)
from tests.nodes.recordings import (
    EVENT_TRANSACTIONS,
    RECORDED_LAUNCHES,
    V4_LAUNCHES,
    Mined,
    base,
    mined,
    recorded_chain,
)
from tests.tokens.chains.evm.generations.test_decoding import BROKEN, PRESALE_V4, allocation, reward_added
from tokens.chains.abi import codec
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations.mined_transactions import FullTransactionRequiredError, mined_from_logs
from tokens.chains.evm.logs.log_decoding import DecodedLogs, decode_logs, launch_topics, own_topics
from tokens.chains.registry.chains import load_registry

NOTHING = DecodedLogs(transactions=(), incomplete=(), undecodable=())
RAW_POOL_ID = bytes.fromhex(POOL_ID[2:])
VAULT, AIRDROP, DEV_BUY = (base().addresses(role, generation="v4")[0] for role in ("vault", "airdrop", "dev_buy"))
FEE_LOCKER = base().addresses("fee_locker")[0]
OTHER_TOKEN = "0x6666666666666666666666666666666666666666"


def filtered(*transactions, chain=None, addresses=None):
    """Return the logs that nodes return for the two filters, from these transactions."""
    chain = chain or base()
    addresses = chain.emitters if addresses is None else addresses
    return [
        log
        for one in transactions
        for log in one.logs
        if log["topics"]
        and (
            (log["topics"][0] in launch_topics(chain) and log["address"].lower() in addresses)
            or log["topics"][0] in own_topics(base())
        )
    ]


def decode(*transactions, chain=None, addresses=None):
    times = {one.receipt["blockHash"]: int(one.block["timestamp"], 16) for one in transactions}
    return decode_logs(chain or base(), filtered(*transactions, chain=chain, addresses=addresses), times=times)


def at(mined_transaction, number, *, tx_hash):
    """Return the transaction in its own block."""
    block_hash = "0x" + f"{number:064x}"
    place = {"blockHash": block_hash, "blockNumber": hex(number)}
    logs = [log | place | {"transactionHash": tx_hash} for log in mined_transaction.logs]
    block = {"hash": block_hash, "number": hex(number), "timestamp": hex(BLOCK_TIME + number)}
    return Mined(
        transaction=mined_transaction.transaction | place | {"hash": tx_hash},
        receipt=mined_transaction.receipt | place | {"transactionHash": tx_hash, "logs": logs},
        block=mined_transaction.block | block | {"transactions": [tx_hash]},
    )


def extension_logs(extension):
    """Return an extension's logs in a launch of TOKEN."""
    days = (86_400, 86_400)
    return {
        VAULT: [allocation(by=VAULT)],
        AIRDROP: [
            event(
                AIRDROP, abi.AIRDROPPED, TOKEN, DEPLOYER, b"\1" * 32,
                5, *days
            )
        ],
        DEV_BUY: [event(DEV_BUY, abi.DEV_BOUGHT, TOKEN, SENDER, 1, 2)],
        PRESALE_V4: [event(PRESALE_V4, abi.PRESALE_DEPLOYED, 5, TOKEN)],
    }.get(extension, [])  # fmt: skip


PARTS = {
    "reward": reward_added(),
    "preferences": event(LOCKER_V4, abi.PREFERENCES_SET, TOKEN, [1]),
    "fees": event(HOOK_V4, abi.STATIC_POOL, RAW_POOL_ID, 10_000, 10_000),
    "sniper fees": event(MEV_MODULE_V4, abi.SNIPER_FEES, RAW_POOL_ID, 666_777, 41_673, 15),
}


def whole_launch(*extra, without=(), extensions=(), **created):
    """Return a v4 launch with all logs except these."""
    parts = [log for name, log in PARTS.items() if name not in without]
    launched_logs = [log for extension in extensions if extension not in without for log in extension_logs(extension)]
    return v4_launch(*parts, *launched_logs, *extra, extensions=tuple(extensions), **created)


def recorded():
    """Return every transaction on the recorded chain."""
    chain = recorded_chain()
    for block in chain["blocks"]:
        hashes = [entry["hash"] for entry in block["transactions"]]
        for entry in block["transactions"]:
            yield Mined(entry, chain["receipts"][entry["hash"]], block | {"transactions": hashes})


def read(mined_transaction, chain=None):
    """Return a full read's result, None where it is empty."""
    try:
        return mined_transaction.read(chain)
    except LaunchNotFoundError:
        return None


# Equal to a full read.


def test_every_recorded_transaction_is_decoded_by_its_logs_or_listed():
    incomplete, complete = [], 0
    for one in recorded():
        found, whole = decode(one), read(one)
        if found.incomplete:
            incomplete += found.incomplete
            assert found.transactions == ()
        else:
            assert found.transactions == (() if whole is None else (whole,))
            complete += whole is not None
        assert found.undecodable == ()
    # In the older generations, whose pools' logs no filter matches.
    assert incomplete == [mined(f"legacy-{name}-deploy").hash for name in ("v31", "v2", "v0")]
    assert complete == len(set(EVENT_TRANSACTIONS) | set(V4_LAUNCHES))


def test_a_run_of_blocks_is_decoded_in_the_chains_order():
    chain = list(recorded())
    found = decode(*chain)
    expected = [(one.hash, facts) for one in chain if (facts := read(one))]
    assert list(found.transactions) == [facts for tx_hash, facts in expected if tx_hash not in found.incomplete]
    assert len(found.transactions) + len(found.incomplete) == len(expected)


def test_without_logs_there_is_nothing():
    assert decode() == NOTHING


@pytest.mark.parametrize("label", ["deploy-reverted", "deploy-zero-supply", "unrelated-transfer"])
def test_a_transaction_that_holds_nothing_is_in_no_part(label):
    assert decode(mined(label)) == NOTHING


@pytest.mark.parametrize("extensions", [(), (VAULT,), (AIRDROP,), (DEV_BUY,), (VAULT, AIRDROP, DEV_BUY)])
def test_a_launch_with_all_logs_is_decoded_by_them(extensions):
    launch = whole_launch(extensions=extensions)
    found = decode(launch)
    assert (found.transactions, found.incomplete) == ((launch.read(),), ())


def test_the_supply_is_what_pool_and_extensions_got():
    launch = whole_launch(extensions=(VAULT,), extensions_supply=10**28, minted=None)
    (facts,) = decode(launch).transactions
    assert facts.launches[0].supply == launch.read().launches[0].supply == SUPPLY + 10**28


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_the_recorded_supply_is_what_was_minted(label):
    assert [launch.supply for launch in mined(label).decode()] == [10**29]


def test_a_pair_that_is_not_in_the_registry_is_left_for_a_node_to_name():
    launch = whole_launch(paired=STRANGER)
    (facts,) = decode(launch).transactions
    assert facts == launch.read()
    assert facts.launches[0].pool.pair_symbol is None


def test_several_launches_of_one_transaction_are_decoded():
    together, *rest = (mined(label) for label in V4_LAUNCHES)
    together.transaction["to"] = STRANGER
    place = {name: together.logs[0][name] for name in ("transactionHash", "blockHash", "blockNumber")}
    together.receipt["logs"] += [log | place for other in rest for log in other.logs]
    for index, log in enumerate(together.logs):
        log["logIndex"] = hex(index)
    found = decode(together)
    assert found.transactions == (together.read(),)
    assert len(found.transactions[0].launches) == len(V4_LAUNCHES)


def test_a_launch_and_events_of_one_transaction_are_decoded():
    update = event(TOKEN, abi.UPDATE_IMAGE, "ipfs://new")
    launch = whole_launch(update)
    (facts,) = decode(launch).transactions
    assert facts == launch.read()
    assert len(facts.event_logs) == len(facts.launches) == 1


def test_the_same_transaction_in_several_blocks_keeps_each_block_and_time():
    runs = [at(whole_launch(), number, tx_hash="0x" + f"{number:064x}") for number in (7, 8, 9)]
    found = decode(*runs)
    assert list(found.transactions) == [one.read() for one in runs]
    assert [facts.block_time - BLOCK_TIME for facts in found.transactions] == [7, 8, 9]


def test_a_claim_at_an_unregistered_contract_is_nothing():
    forged = event(STRANGER, abi.CLAIM_TOKENS, SENDER, WETH, 1)
    real = forged | {"address": FEE_LOCKER.lower()}
    assert read(transaction(forged, to=STRANGER)) is None
    both = transaction(forged, real, to=STRANGER)
    assert decode(both).transactions == (both.read(),)
    assert [log.emitter for log in both.read().event_logs] == [FEE_LOCKER]


# Not in the logs.


@pytest.mark.parametrize("build", [v1_launch, v3_launch, v31_launch])
def test_an_older_generation_is_to_be_read_in_full(build):
    assert decode(build()) == DecodedLogs(transactions=(), incomplete=(TX_HASH,), undecodable=())


@pytest.mark.parametrize("part", PARTS)
def test_a_launch_with_missing_logs_is_to_be_read_in_full(part):
    assert decode(whole_launch(without=(part,))).incomplete == (TX_HASH,)


@pytest.mark.parametrize("extension", [VAULT, AIRDROP, DEV_BUY, PRESALE_V4])
def test_an_extension_without_logs_requires_a_full_read(extension):
    extensions = (VAULT, AIRDROP, DEV_BUY, PRESALE_V4)
    assert decode(whole_launch(extensions=extensions, without=(extension,))).incomplete == (TX_HASH,)
    assert decode(whole_launch(extensions=extensions)).incomplete == ()


def test_an_extension_with_only_logs_of_another_token_is_missing():
    emitting = allocation(OTHER_TOKEN, by=VAULT)
    assert decode(whole_launch(emitting, extensions=(VAULT,), without=(VAULT,))).incomplete == (TX_HASH,)


def presale_launch(*extra):
    launch = whole_launch(*extra)
    created = launch.logs[-1]
    created["data"] = "0x" + eth_abi.encode(["address"], [PRESALE_V4]).hex() + created["data"][66:]
    return launch


def test_a_presale_that_launched_has_to_emit_its_event():
    assert decode(presale_launch()).incomplete == (TX_HASH,)
    launched_logs = presale_launch(*extension_logs(PRESALE_V4))
    (facts,) = decode(launched_logs).transactions
    assert facts == launched_logs.read()
    assert facts.launches[0].presale_id == 5


@pytest.mark.parametrize("known", [LOCKER_V4, HOOK_V4, MEV_MODULE_V4])
def test_a_contract_that_is_not_in_the_registry_makes_it_to_be_read_in_full(known):
    launch = whole_launch()
    foreign = STRANGER[2:].lower()
    for log in launch.logs:
        if log["address"] == known.lower():
            log["address"] = STRANGER
        log["data"] = log["data"].replace(known[2:].lower(), foreign)
    assert decode(launch).incomplete == (TX_HASH,)
    # A full read finds a launch like any other.
    assert launch.read().launches[0].fees is not None


def test_an_extension_that_is_not_in_the_registry_makes_it_to_be_read_in_full():
    launch = whole_launch(allocation(by=STRANGER), extensions=(STRANGER,))
    assert decode(launch).incomplete == (TX_HASH,)
    assert launch.read().launches[0].vault is not None


def test_one_incomplete_launch_makes_its_transaction_incomplete_and_none_other():
    both = whole_launch(v4_created(OTHER_TOKEN))
    complete = at(whole_launch(), 7, tx_hash="0x" + "07" * 32)
    assert decode(both, complete) == DecodedLogs(transactions=(complete.read(),), incomplete=(TX_HASH,), undecodable=())


@pytest.mark.parametrize("address", [FACTORY_V4, LOCKER_V4, HOOK_V4, MEV_MODULE_V4])
def test_logs_of_some_of_the_contracts_make_no_half_launch(address):
    found = decode(whole_launch(), addresses={address.lower()})
    assert found == (
        DecodedLogs(transactions=(), incomplete=(TX_HASH,), undecodable=()) if address == FACTORY_V4 else NOTHING
    )


def test_what_no_filter_matched_is_unknown():
    launch = whole_launch()
    gathered = mined_from_logs(base(), filtered(launch), block_time=BLOCK_TIME, topics=launch_topics(base()))
    reward, transfer = codec.load_abi("v4").event("TokenRewardAdded"), codec.load_abi("token").event("Transfer")
    assert len(gathered.emitted(reward, by=LOCKER_V4)) == 1
    assert gathered.emitted(reward, by=FACTORY_V4) == ()
    for decode_again in (
        lambda: gathered.emitted(reward, by=STRANGER),
        # A registry contract without relevant events.
        lambda: gathered.emitted(reward, by=base().addresses("presale_allowlist")[0]),
        lambda: gathered.emitted(transfer, by=FACTORY_V4),
        lambda: gathered.minted_amount(TOKEN),
        lambda: gathered.is_call_to(FACTORY_V4),
        lambda: gathered.call,
    ):
        with pytest.raises(FullTransactionRequiredError):
            decode_again()


# MalformedResponseError.


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_a_malformed_launch_costs_no_other_transaction(damage):
    broken = whole_launch()
    broken.receipt["logs"][-1] = damage(broken.logs[-1])
    others = [at(whole_launch(paired=USDC), number, tx_hash="0x" + f"{number:064x}") for number in (7, 8)]
    found = decode(others[0], broken, others[1])
    assert list(found.transactions) == [one.read() for one in others]
    assert (found.incomplete, [one.tx_hash for one in found.undecodable]) == ((), [TX_HASH])
    assert "TokenCreated" in found.undecodable[0].reason


@pytest.mark.parametrize("label", V4_LAUNCHES)
def test_whatever_log_is_damaged_both_ways_agree(label):
    for index in range(len(mined(label).logs)):
        for damage in BROKEN.values():
            damaged = mined(label)
            damaged.receipt["logs"][index] = damage(damaged.logs[index])
            found = decode(damaged)
            try:
                whole = damaged.read()
            except LogDecodingError:
                assert found.transactions == ()
            else:
                assert found.transactions == (whole,) or found.incomplete == (damaged.hash,)


def test_a_malformed_event_is_listed_and_refused_when_it_is_decoded():
    broken = transaction(event(TOKEN, abi.UPDATE_IMAGE, "ipfs://new") | {"data": "0x12"}, to=TOKEN)
    assert decode(broken).transactions == (broken.read(),)


# The filters.


def test_the_filters_match_every_log_that_a_launch_is_read_from():
    wanted = {
        log["topics"][0]
        for label in V4_LAUNCHES
        for log in mined(label).logs
        if log["topics"][0] in {part["topics"][0] for part in PARTS.values()} | {v4_created()["topics"][0]}
    }
    assert len(wanted) == 5
    assert wanted <= launch_topics(base())


def test_no_topic_is_requested_twice():
    assert launch_topics(base()).isdisjoint(own_topics(base()))
    assert event(TOKEN, abi.UPDATE_ADMIN, SENDER, SENDER)["topics"][0] in own_topics(base())


def test_a_chain_is_queried_for_the_launches_of_its_own_factories():
    v1_created, v31_created = v1_launch().logs[-1]["topics"][0], v31_launch().logs[-1]["topics"][0]
    assert {v1_created, v31_created} <= launch_topics(base())
    sepolia = load_registry().chain(84532)
    assert v1_created not in launch_topics(sepolia)
    assert v31_created in launch_topics(sepolia)


def test_the_times_are_those_of_the_blocks():
    launch = whole_launch()
    found = decode_logs(base(), filtered(launch), times={BLOCK_HASH: 5, "0x" + "00" * 32: 6})
    assert [facts.block_time for facts in found.transactions] == [5]
