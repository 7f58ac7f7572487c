"""tokens/chains/evm/generations: launches in a transaction's logs, including ignored events and unknown fields."""

import copy

import pytest

from tests.nodes import contract_events as abi
from tests.nodes.launch_builder import (
    BLOCK_TIME,
    CREATOR_PAID,
    DEPLOYER,
    FACTORY_V1,
    FACTORY_V2,
    FACTORY_V3,
    FACTORY_V4,
    HOOK_V4,
    INTERFACE_PAID,
    LOCKER,
    LOCKER_V3,
    LOCKER_V4,
    MEV_MODULE_V4,
    POOL,
    POOL_ID,
    POSITION_MANAGER,
    SENDER,
    STRANGER,
    SUPPLY,
    TOKEN,
    USDC,
    V3_FACTORY,
    WETH,
    event,
    mint,
    transaction,
    v1_launch,
    v3_launch,
    v4_created,
    v4_launch,
    v31_launch,
)
from tests.nodes.recordings import RECORDED_LAUNCHES, V4_LAUNCHES, base, decoded, mined
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.indexing.launch_rows import token_columns

HIGH_TOKEN = "0x8888888888888888888888888888888888888888"
RAW_POOL_ID = bytes.fromhex(POOL_ID[2:])
VAULT_V31 = "0x42A95190B4088C88Dd904d930c79deC1158bF09D"
PRESALE_V4 = "0xeeBbC567C3D612f50a67820f39CDD30dcCF7E6b8"


def only(mined_transaction):
    (launch,) = mined_transaction.decode()
    return launch


def row(mined_transaction):
    return token_columns(only(mined_transaction), chain=base(), presets=())


def reward_added(token=TOKEN, *, by=LOCKER_V4, admin=DEPLOYER):
    key = (token, WETH, 0x800000, 60, HOOK_V4)
    return event(
        by, abi.V4_REWARD_ADDED, token, key, SUPPLY, 7, 1, [10_000], [admin], [admin], [-230_400], [0], [10_000]
    )


def allocation(token=TOKEN, *, by):
    return event(by, abi.V4_VAULTED, token, DEPLOYER, 10**28, 100, 200)


# No launch.


@pytest.mark.parametrize("label", ["deploy-reverted", "deploy-zero-supply", "unrelated-transfer"])
def test_a_recorded_transaction_without_a_launch_holds_none(label):
    with pytest.raises(LaunchNotFoundError):
        mined(label).decode()


def test_a_reverted_transaction_holds_no_launch_whatever_logs_it_has():
    with pytest.raises(LaunchNotFoundError, match="reverted"):
        transaction(mint(), v4_created(), to=FACTORY_V4, succeeded=False).decode()


def test_a_transaction_without_logs_holds_no_launch():
    with pytest.raises(LaunchNotFoundError):
        transaction(to=FACTORY_V4).decode()


def test_a_token_created_by_another_contract_is_no_launch():
    forged = v4_created() | {"address": STRANGER}
    with pytest.raises(LaunchNotFoundError):
        transaction(mint(), forged, to=FACTORY_V4).decode()


@pytest.mark.parametrize("factory", [FACTORY_V1, FACTORY_V2, FACTORY_V3])
def test_a_factory_that_emits_another_generations_event_launches_nothing(factory):
    with pytest.raises(LaunchNotFoundError):
        transaction(mint(), v4_created() | {"address": factory.lower()}, to=factory).decode()


def test_a_factory_of_another_chain_launches_nothing():
    # Ethereum's factory.
    foreign = v4_created() | {"address": "0x6c8599779b03b00aaae63c6378830919abb75473"}
    with pytest.raises(LaunchNotFoundError):
        transaction(mint(), foreign, to=FACTORY_V4).decode()


def test_anonymous_logs_of_a_factory_are_no_launch():
    with pytest.raises(LaunchNotFoundError):
        transaction({"address": FACTORY_V4.lower(), "topics": [], "data": "0x"}, to=FACTORY_V4).decode()


# MalformedResponseError.


def cut(data):
    return data[: len(data) // 2 // 64 * 64 + 2]


BROKEN = {
    "no data": lambda log: log | {"data": "0x"},
    "half of the data": lambda log: log | {"data": cut(log["data"])},
    "all ones": lambda log: log | {"data": "0x" + "ff" * 640},
    "a topic too few": lambda log: log | {"topics": log["topics"][:-1]},
    "a topic too many": lambda log: log | {"topics": [*log["topics"], log["topics"][-1]]},
    "a topic that is no address": lambda log: log | {"topics": [*log["topics"][:-1], "0x" + "ff" * 32]},
    "a topic that is no hex": lambda log: log | {"topics": [*log["topics"][:-1], "0xzz"]},
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_a_malformed_launch_of_a_factory_is_undecodable(damage):
    broken = mined("deploy-plain")
    broken.receipt["logs"][-1] = damage(broken.logs[-1])
    with pytest.raises(LogDecodingError):
        broken.decode()


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_whatever_log_is_cut_short_nothing_but_undecodable_is_raised(label):
    whole = mined(label).decode()
    for index in range(len(mined(label).logs)):
        damaged = mined(label)
        damaged.logs[index]["data"] = cut(damaged.logs[index]["data"])
        try:
            launches = damaged.decode()
        except LogDecodingError:
            continue
        # Events in the same transaction are kept without their launch.
        assert launches in (whole, ())


def test_a_text_needs_no_padding():
    launch = v1_launch()
    cast_hash = b"0xcast1"
    data = bytes.fromhex(launch.logs[-1]["data"][2:])
    assert data.endswith(cast_hash.ljust(32, b"\0"))
    for tail in (b"", b"\xff" * 25):
        launch.logs[-1]["data"] = "0x" + (data[:-25] + tail).hex()
        assert only(launch).cast_hash == "0xcast1"


# Several launches.


def merged(*labels):
    """Build one transaction with the logs of several, through a contract that is no factory."""
    together, *rest = (mined(label) for label in labels)
    together.transaction["to"] = STRANGER
    for other in rest:
        together.receipt["logs"] += other.logs
    for index, log in enumerate(together.logs):
        log["logIndex"] = hex(index)
    return together


def test_all_launches_of_one_transaction_are_found_in_log_order():
    labels = ["deploy-vault", "legacy-v31-deploy", "deploy-airdrop", "deploy-devbuy", "legacy-v0-deploy"]
    launches = merged(*labels).decode()
    assert [launch.generation for launch in launches] == ["v4", "v3.1", "v4", "v4", "v0"]
    assert [launch.log_index for launch in launches] == sorted(launch.log_index for launch in launches)


def test_launches_of_one_transaction_do_not_mix():
    together = merged(*V4_LAUNCHES, "legacy-v31-deploy").decode()
    for label, launch in zip([*V4_LAUNCHES, "legacy-v31-deploy"], together, strict=True):
        (single,) = mined(label).decode()
        same = ("token", "name", "supply", "locker", "pool", "fees", "fee_recipients", "positions", "airdrop")
        assert [getattr(launch, name) for name in same] == [getattr(single, name) for name in same]
        assert launch.sniper_tax == single.sniper_tax
        assert (launch.vault and launch.vault.amount) == (single.vault and single.vault.amount)
        assert (launch.dev_buy and launch.dev_buy.amount) == (single.dev_buy and single.dev_buy.amount)


# Through another contract.


def test_calldata_is_not_read_where_another_contract_called_the_factory():
    through = mined("legacy-v31-deploy")
    through.transaction["to"] = STRANGER
    launch = only(through)
    assert (launch.image, launch.context, launch.dev_buy.amount_eth) == (None, None, None)
    assert launch.metadata == '{"description":"v3.1"}'


def test_calldata_without_a_destination_is_not_read():
    created = mined("legacy-v31-deploy")
    created.transaction["to"] = None
    assert only(created).image is None


@pytest.mark.parametrize(("build", "factory"), [(v1_launch, FACTORY_V1), (v3_launch, FACTORY_V3)])
def test_the_sender_of_the_transaction_counts_only_where_it_called_the_factory(build, factory):
    assert (only(build()).msg_sender, only(build()).factory) == (SENDER, factory)
    assert only(build(to=STRANGER)).msg_sender is None
    assert only(build(to=STRANGER)).image is None


def test_the_sender_is_the_factorys_caller_where_the_event_names_it():
    through = mined("deploy-plain")
    through.transaction["from"] = STRANGER
    through.transaction["to"] = STRANGER
    assert only(through).msg_sender == "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
@pytest.mark.parametrize("suffix", ["00", "07626173656170700080218021802180218021802180218021", "ff" * 100])
def test_a_suffix_behind_the_calldata_changes_nothing(label, suffix):
    extended = mined(label)
    extended.transaction["input"] += suffix
    assert extended.decode() == mined(label).decode()


@pytest.mark.parametrize("label", ["legacy-v31-deploy", "legacy-v2-deploy", "deploy-plain"])
@pytest.mark.parametrize("calldata", ["0x", "0x12", "0x12345678", "{selector}", "{selector}" + "ff" * 64, "0xzz"])
def test_calldata_that_can_not_be_read_leaves_only_its_own_facts_unknown(label, calldata):
    garbled = mined(label)
    garbled.transaction["input"] = calldata.format(selector=garbled.transaction["input"][:10])
    launch, whole = only(garbled), only(mined(label))
    assert (launch.token, launch.name, launch.pool, launch.vault) == (whole.token, whole.name, whole.pool, whole.vault)
    assert launch.context in (None, whole.context)


# Generations.


def test_the_same_event_is_v1_or_v2_by_its_factory():
    first, second = only(v1_launch()), only(v1_launch(factory=FACTORY_V2))
    assert (first.generation, second.generation) == ("v1", "v2")
    assert first.name == second.name


def test_v3_finds_its_locker_and_its_image():
    launch = only(v3_launch())
    assert (launch.locker, launch.image, launch.position_id) == (LOCKER_V3, "ipfs://three", 42)


@pytest.mark.parametrize(
    ("fid", "known"), [(0, None), (1, 1), (2**63 - 1, 2**63 - 1), (2**63, None), (2**256 - 1, None)]
)
def test_a_fid_that_is_none_is_unknown(fid, known):
    assert only(v1_launch(fid=fid)).requestor_fid == known


def test_empty_texts_stay_empty_and_an_empty_cast_hash_is_unknown():
    launch = only(v1_launch(name="", symbol="", image="", cast_hash=""))
    assert (launch.name, launch.symbol, launch.image, launch.cast_hash) == ("", "", "", None)


# The pool.


@pytest.mark.parametrize(("token", "is_token0"), [(TOKEN, True), (HIGH_TOKEN, False)])
def test_ticks_are_returned_as_if_the_token_were_token0(token, is_token0):
    assert (token.lower() < WETH) == is_token0
    launch = only(v31_launch(token=token))
    (position,) = launch.positions
    assert launch.pool.tick == -230_400
    assert (position.tick_lower, position.tick_upper) == (-230_400, 887_200)
    assert (launch.pool.paired_token, launch.pool.pair_symbol, launch.pool.pair_decimals) == (WETH, "WETH", 18)


def test_a_v4_tick_is_taken_as_it_is():
    token1 = only(mined("deploy-token1"))
    assert token1.token.lower() > token1.pool.paired_token.lower()
    assert token1.pool.tick == -230_400
    assert token1.positions[0].tick_lower == -230_400


@pytest.mark.parametrize("build", [v31_launch, v4_launch])
def test_a_quote_token_of_the_registry_is_known_by_name(build):
    launch = only(build(paired=USDC))
    assert (launch.pool.paired_token, launch.pool.pair_symbol, launch.pool.pair_decimals) == (USDC, "USDC", 6)


@pytest.mark.parametrize("build", [v31_launch, v4_launch])
def test_another_paired_token_is_left_for_the_node_to_name(build):
    launch = only(build(paired=STRANGER))
    assert (launch.pool.paired_token, launch.pool.pair_symbol, launch.pool.pair_decimals) == (STRANGER, None, None)


def test_the_market_cap_counts_the_paired_tokens_decimals():
    assert row(v4_launch())["starting_market_cap"] == pytest.approx(9.8708695)
    # 10^12 more, because USDC's smallest unit is so much larger.
    assert row(v4_launch(paired=USDC))["starting_market_cap"] == pytest.approx(9.8708695e12)
    assert row(v4_launch(paired=USDC, tick=-424_400))["starting_market_cap"] == pytest.approx(37_108, rel=1e-3)
    assert row(v4_launch(paired=STRANGER))["starting_market_cap"] is None
    assert row(v4_launch(tick=8_388_607))["starting_market_cap"] is None
    assert row(v4_launch(tick=-8_388_608))["starting_market_cap"] == 0


def test_a_v31_launch_without_a_pool_has_none():
    created = [log for log in v31_launch().logs if log["topics"][0] == v31_launch().logs[-1]["topics"][0]]
    launch = only(transaction(*created, to=STRANGER))
    assert (launch.pool, launch.fees, launch.positions, launch.dev_buy, launch.supply) == (None, None, (), None, None)
    assert row(transaction(*created, to=STRANGER))["launch_warnings"] == ["MISSING_POOL_CONFIG"]


# Supply.


@pytest.mark.parametrize("supply", [0, 1, 7 * 10**18, 2**256 - 1])
def test_the_supply_is_what_was_minted(supply):
    assert only(v4_launch(minted=supply)).supply == supply


def test_the_supply_is_the_sum_of_all_mints_of_the_token():
    other = mint(STRANGER, supply=5)
    moved = event(TOKEN, abi.TRANSFER, DEPLOYER, SENDER, 9)
    assert only(v4_launch(mint(supply=3), other, moved, minted=4)).supply == 7


def test_the_supply_is_unknown_where_nothing_was_minted():
    assert only(v4_launch(minted=None)).supply is None


@pytest.mark.parametrize("change", [{"data": "0x"}, {"data": "0x01"}, {"data": "0xzz"}])
def test_a_malformed_mint_is_undecodable(change):
    with pytest.raises(LogDecodingError):
        transaction(mint() | change, v4_created(), to=STRANGER).decode()


# Look-alikes in the same transaction.


def test_a_foreign_reward_is_ignored():
    launch = only(v4_launch(reward_added(by=STRANGER)))
    assert (launch.fee_recipients, launch.positions, launch.pool.tick_spacing) == ((), (), None)
    launch = only(v4_launch(reward_added(by=STRANGER, admin=STRANGER), reward_added()))
    assert [share.admin for share in launch.fee_recipients] == [DEPLOYER]


def test_a_reward_of_another_token_is_ignored():
    assert only(v4_launch(reward_added(HIGH_TOKEN))).fee_recipients == ()


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_only_v4_reports_what_its_extensions_got(label):
    (created,) = (log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == "TokenCreated")
    supply_text = created.get("extensionsSupply")
    assert only(mined(label)).extensions_supply == (int(supply_text) if label in V4_LAUNCHES else None)


def test_a_foreign_vault_is_ignored():
    assert only(v4_launch(allocation(by=STRANGER))).vault is None
    # The registry's vault that is not among the launch's extensions.
    known = base().addresses("vault", generation="v4")[0]
    assert only(v4_launch(allocation(by=known))).vault is None
    assert only(v4_launch(allocation(by=known), extensions=(known,))).vault.amount == 10**28
    assert only(v4_launch(allocation(HIGH_TOKEN, by=known), extensions=(known,))).vault is None


def test_the_rewards_of_v31_go_to_those_that_the_launch_names_and_not_to_their_admins():
    added = event(LOCKER, abi.V31_REWARD_ADDED, 42, 30, DEPLOYER, DEPLOYER)
    shares = only(v31_launch(added)).fee_recipients
    assert [(share.admin, share.recipient.lower(), share.bps) for share in shares] == [
        (DEPLOYER, CREATOR_PAID.lower(), 3000),
        (DEPLOYER, INTERFACE_PAID.lower(), 5000),
    ]


def test_a_foreign_v31_vault_is_ignored():
    signature = "AllocationCreated(address indexed,address indexed,uint256,uint256)"
    forged = event(STRANGER, signature, TOKEN, DEPLOYER, 10**28, 5)
    assert only(v31_launch(forged)).vault is None
    real = event(VAULT_V31, signature, TOKEN, DEPLOYER, 10**28, 5)
    assert only(v31_launch(real)).vault.amount == 10**28


def test_a_foreign_pool_is_ignored():
    real = v31_launch()
    forged = copy.deepcopy(next(log for log in real.logs if log["address"] == V3_FACTORY.lower()))
    forged |= {"address": STRANGER, "data": forged["data"][:-40] + STRANGER[2:]}
    real.receipt["logs"].insert(0, forged)
    assert only(real).pool.address == POOL


def test_a_foreign_fee_and_sniper_tax_are_ignored():
    forged = (
        event(STRANGER, abi.STATIC_POOL, RAW_POOL_ID, 1, 1),
        event(STRANGER, abi.SNIPER_FEES, RAW_POOL_ID, 1, 1, 1),
        event(STRANGER, abi.DEV_BOUGHT, TOKEN, STRANGER, 1, 1),
        event(
            STRANGER, abi.FIRST_AIRDROPPED, TOKEN, b"\1" * 32, 1, 1, 1
        ),
        event(PRESALE_V4, abi.PRESALE_DEPLOYED, 5, TOKEN),
    )  # fmt: skip
    launch = only(v4_launch(*forged))
    assert (launch.fees, launch.sniper_tax, launch.dev_buy, launch.airdrop, launch.presale_id) == (None,) * 5


def test_a_foreign_position_gives_no_locker():
    from_launch = [log for log in v31_launch().logs if log["address"] != POSITION_MANAGER.lower()]
    forged = [log | {"address": STRANGER} for log in v31_launch().logs if log["address"] == POSITION_MANAGER.lower()]
    assert only(transaction(*forged, *from_launch, to=STRANGER)).locker is None
    assert only(v31_launch()).locker == LOCKER


# Fields without a value in v4.


def test_a_v4_launch_without_other_events_has_unknowns():
    launch = only(v4_launch())
    assert (launch.fees, launch.vault, launch.airdrop, launch.dev_buy, launch.sniper_tax) == (None,) * 5
    assert (launch.position_id, launch.presale_id, launch.requestor_fid, launch.cast_hash) == (None,) * 4
    assert (launch.fee_recipients, launch.positions, launch.pool.tick_spacing) == ((), (), None)
    assert launch.pool.address == POOL_ID
    extensions = row(v4_launch())["extensions"]
    assert set(extensions) == {"fees", "vault", "airdrop", "devBuy", "sniperTax", "positions"}
    assert not any(extensions.values())


def test_the_tick_spacing_is_that_of_the_hook_where_the_locker_has_none():
    created = event(
        HOOK_V4, "PoolCreatedFactory(address indexed,address indexed,bytes32,int24,int24,address,address)",
        WETH, TOKEN, RAW_POOL_ID, -230_400, 60, LOCKER_V4, MEV_MODULE_V4,
    )  # fmt: skip
    assert only(v4_launch(created)).pool.tick_spacing == 60


@pytest.mark.parametrize(
    ("preferences", "currencies"),
    [(None, ["Both"]), ([], ["Both"]), ([0], ["Both"]), ([1], ["Paired"]), ([2], ["Clanker"]), ([200], ["Both"])],
)
def test_a_fee_preference_that_is_unknown_means_both(preferences, currencies):
    chosen = [event(LOCKER_V4, abi.PREFERENCES_SET, TOKEN, preferences or [])]
    launch = only(v4_launch(reward_added(), *(chosen if preferences is not None else [])))
    assert [share.token for share in launch.fee_recipients] == currencies


def test_fees_are_returned_in_bps_with_their_fractions():
    odd = event(HOOK_V4, abi.STATIC_POOL, RAW_POOL_ID, 10_050, 25)
    fees = only(v4_launch(odd)).fees
    assert (fees.clanker_fee, fees.paired_fee) == (100.5, 0.25)


def test_the_first_airdrop_has_no_admin():
    old = "0x56Fa0Da89eD94822e46734e736d34Cab72dF344F"
    created = event(old, abi.FIRST_AIRDROPPED, TOKEN, b"\7" * 32, 5, 100, 200)
    airdrop = only(v4_launch(created, extensions=(old,))).airdrop
    assert (airdrop.admin, airdrop.amount, airdrop.merkle_root) == (None, 5, "0x" + "07" * 32)
    assert (airdrop.lockup.started_at, airdrop.lockup.lock_duration) == (BLOCK_TIME, 100)


def test_a_presale_is_known_by_its_contract_that_called_the_factory():
    deployed = event(PRESALE_V4, abi.PRESALE_DEPLOYED, 5, TOKEN)
    created = v4_created()
    # The first data word is the factory's caller.
    created["data"] = "0x" + PRESALE_V4[2:].lower().rjust(64, "0") + created["data"][66:]
    assert only(transaction(mint(), deployed, created, to=PRESALE_V4)).presale_id == 5
    assert only(transaction(mint(), created, to=PRESALE_V4)).presale_id is None
    assert only(transaction(mint(), created, deployed, to=PRESALE_V4)).presale_id == 5


def test_a_presale_of_an_unregistered_contract_is_ignored():
    # SENDER called the factory, and may emit any event.
    assert only(v4_launch()).msg_sender == SENDER
    assert only(v4_launch(event(SENDER, abi.PRESALE_DEPLOYED, 5, TOKEN))).presale_id is None


@pytest.mark.parametrize("duration", [2**53, 2**63, 2**256 - 1])
def test_a_duration_beyond_what_clients_read_is_the_longest_that_json_holds(duration):
    vault = base().addresses("vault", generation="v4")[0]
    created = event(vault, abi.V4_VAULTED, TOKEN, DEPLOYER, 10**28, duration, duration)
    columns = row(v4_launch(created, extensions=(vault,)))
    lockup = columns["extensions"]["vault"]["lockup"]
    assert (lockup["lockDuration"], lockup["vestDuration"]) == (2**53 - 1, 2**53 - 1)
    assert columns["deploy_config"]["vestingUnlockDate"] is None


def test_the_other_decoders_launches_are_all_of_ours():
    for label in RECORDED_LAUNCHES:
        created = [log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == "TokenCreated"]
        assert [args["tokenAddress"] for args in created] == [launch.token for launch in mined(label).decode()]


def test_v31_rewards_are_those_of_the_locker_that_holds_the_position():
    rewards = [
        event(by, abi.V31_REWARD_ADDED, position, percent, DEPLOYER, SENDER)
        for by, position, percent in ((STRANGER, 42, 1), (LOCKER, 41, 2), (LOCKER, 42, 60))
    ]
    creator, interface = only(v31_launch(*rewards)).fee_recipients
    assert (creator.recipient.lower(), creator.bps) == (CREATOR_PAID.lower(), 6_000)
    # The launchpad's team keeps a fifth.
    assert (interface.recipient.lower(), interface.bps) == (INTERFACE_PAID.lower(), 2_000)
