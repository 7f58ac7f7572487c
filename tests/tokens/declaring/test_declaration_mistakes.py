"""What `try_launchpad` prints about newcomers' mistakes, on a recorded launch by Zora's real contracts."""

import pytest
from django.core.management import CommandError

from tests.nodes.recorded_launchpad import RecordedLaunchpad

SIGNATURE = (
    "CoinCreatedV4(address,address,address,address,string,string,string,address,"
    "(address,address,uint24,int24,address),bytes32,string)"
)
TOPIC = "0x2de436107c2096e039c98bbcc3c5a2560583738ce15c234557eecb4d3221aa81"
NO_LAUNCH = "no launch would be stored"
UNNAMED = "logs of its contracts that no declaration names"


@pytest.fixture
def zora(serve_launchpad) -> RecordedLaunchpad:
    return serve_launchpad("zora-content_coin_1_of_a_creator_coin")


@pytest.fixture
def check(zora, try_file, tmp_path, capsys):
    """Return a function that tries the changed declaration, and returns the lines in `check` or another part."""

    def checked(*changes, tx_hash=None, stored=True, part="check"):
        # Only the recording's event.
        head, launch, *_ = zora.declaration().split("[[launchpads.zora.launch]]")
        text = f"{head}[[launchpads.zora.launch]]{launch}"
        for given, changed in changes:
            assert given in text
            text = text.replace(given, changed)
        arguments = ("--tx", tx_hash or zora.tx_hash)
        if stored:
            output = try_file(text, *arguments)
        else:
            with pytest.raises(CommandError, match=NO_LAUNCH):
                try_file(text, *arguments)
            output = capsys.readouterr().out
        lines = output.partition(f"\n{part}\n")[2].partition("\n\n")[0]
        return [line.strip() for line in lines.splitlines()]

    return checked


def test_the_right_declaration_has_only_views_that_the_recording_lacks(check):
    assert all(line.startswith(("pair_symbol: ", "pair_decimals: ")) for line in check())


def test_wrong_topic_names_the_type_that_differs(zora, check):
    change = ("uint24 fee", "uint16 fee")
    (mistake,) = check(change, stored=False)
    assert mistake.startswith("`contracts` emit 1 logs, and none is a declared event: CoinCreatedV4(")
    assert check(change, stored=False, part=UNNAMED) == [
        f"log 26 of {zora.contract('factory_proxy')}: topic0 {TOPIC}, 4 topics, 20 words of data",
        f"that topic0 is {SIGNATURE}, and the declaration has {SIGNATURE.replace('uint24', 'uint16')}: the type uint16"
        " is uint24 in the contract",
    ]


def test_a_source_newer_than_the_contract_is_named(check):
    last = check(("string version)", "string version, uint256 salt)"), stored=False, part=UNNAMED)[-1]
    assert last.endswith("the source is newer than the contract, which lacks an argument uint256")


def test_a_source_older_than_the_contract_is_named(check):
    last = check((", string version)", ")"), stored=False, part=UNNAMED)[-1]
    assert last.endswith("the source is older than the contract, which has a further argument string")


def test_a_struct_that_the_declaration_lacks_is_named(check):
    struct = "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) poolKey"
    flat = "address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks"
    last = check((struct, flat), stored=False, part=UNNAMED)[-1]
    assert last.endswith("the contract has a struct (address,address,uint24,int24,address)")


def test_a_wrong_number_of_indexed_arguments_names_both_numbers(check):
    first, *_ = check(("address indexed caller", "address caller"), stored=False)
    assert first == (
        f"{SIGNATURE}: log 26 has 3 indexed arguments (4 topics, 20 words of data), and the declaration marks 2:"
        " correct `indexed`"
    )


def test_other_indexed_arguments_than_the_contracts_are_named(check):
    changes = ("address indexed caller", "address caller"), ("string version", "string indexed version")
    first, *_ = check(*changes, stored=False)
    assert first.startswith(f"{SIGNATURE}: log 26 has 20 words of data, which the declaration does not decode")
    assert "other arguments are indexed" in first


def test_data_shorter_than_the_declaration_names_both_lengths(zora, check):
    (log,) = zora.logs(TOPIC)
    log["data"] = log["data"][: 2 + 64 * 5]
    first, *_ = check(stored=False)
    assert "log 26 has 5 words of data, which the declaration does not decode and is shorter than the 16 words" in first


def test_data_longer_than_the_declaration_names_both_lengths(zora, check):
    (log,) = zora.logs(TOPIC)
    log["data"] += "00" * 64
    assert (
        f"{SIGNATURE}: log 26 has 22 words of data, and the declaration decodes 20: the source is of another version"
        " than the contract"
    ) in check()


def test_a_path_that_does_not_exist_lists_what_exists(zora, try_file):
    text = zora.declaration().replace('name = "name"', 'name = "poolKey.title"', 1)
    with pytest.raises(CommandError) as refused:
        try_file(text, "--tx", zora.tx_hash)
    place = "launchpads.zora.launch[0].name: title is not there"
    assert f"{place}: expected currency0, currency1, fee, tickSpacing, hooks" in str(refused.value)


def test_an_indexed_text_is_only_a_hash(zora, try_file):
    with pytest.raises(CommandError, match="uri is indexed: a log has only the hash of a string"):
        text = zora.declaration().replace("string uri", "string indexed uri")
        try_file(text.replace("address indexed caller", "address caller"), "--tx", zora.tx_hash)


def _of_purchases(zora):
    """Return a declaration that mistakes a purchase event for the launch event."""
    rewards = ", ".join(f"uint256 amount{place}" for place in range(10))
    accounts = ", ".join(f"address account{place}" for place in range(6))
    return f"""
        [launchpads.rewards]
        pool = "v4"
        [[launchpads.rewards.launch]]
        contracts = {{ 31337 = ["{zora.contract("hook")}"] }}
        event = "CoinMarketRewardsV4(address coin, {accounts}, ({rewards}) marketRewards)"
        token = "coin"
    """


def test_a_purchase_taken_for_the_creation_is_named(zora, try_file):
    buy = zora.recording["expected"]["trades"][0]["tx_hash"]
    token = zora.recording["expected"]["token"]
    output = try_file(_of_purchases(zora), "--tx", buy)
    block = int(zora.recording["transactions"][1]["receipt"]["blockNumber"], 16)
    pool = "and its pool's Initialize or PoolCreated or PairCreated is not in this transaction"
    question = "Is the event that of a purchase, and another one that of the creation?"
    assert f"  {token} is no new token: it has code in block {block - 1}, {pool}. {question}" in output.splitlines()


def test_an_emitter_that_is_not_among_the_contracts_is_named(zora, check):
    factory, hook = zora.contract("factory_proxy"), zora.contract("hook")
    (line,) = check((factory, hook), stored=False)
    assert line == (
        f"{SIGNATURE} is emitted by {factory}, which is not among `contracts` ({hook}): add it if it is the launchpad's"
    )


def test_a_transaction_without_any_log_of_the_contracts_is_named(zora, check):
    buy = zora.recording["expected"]["trades"][0]["tx_hash"]
    first, second = check(tx_hash=buy, stored=False)
    assert first.endswith("emits a log in this transaction: is it a launch?")
    assert second == f"no address emits a declared event: {SIGNATURE} is {TOPIC}"


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        ("function logo() view returns (string)", "it reverts: execution reverted"),
        ("function totalSupply() view returns (string)", "it returns another type than (string): 1 words, 0x0000"),
    ],
)
def test_a_view_that_reverts_or_returns_another_type_is_named(view, problem, zora, check):
    token, block = zora.recording["expected"]["token"], int(zora.launch["receipt"]["blockNumber"], 16)
    lines = check(('uri = "uri"', f'uri = {{ call = "{view}" }}'))
    name = view.split()[1]
    assert any(line.startswith(f"uri: {name} of {token} at block {block}: {problem}") for line in lines)


def test_a_view_of_an_address_without_code_is_named(check):
    view = '{ call = "function uri() view returns (string)", to = "caller" }'
    assert any("it returns nothing: the contract has no such function" in line for line in check(('"uri"', view)))


def test_no_state_of_the_block_is_named(zora, check):
    zora.is_pruned = True
    block = int(zora.launch["receipt"]["blockNumber"], 16)
    lines = check()
    assert f"no node has the state of block {block}: views were called at the newest block" in lines
    # The transaction mints its whole supply.
    assert not any("it is unknown whether" in line for line in lines)


def test_no_state_of_the_block_before_leaves_open_whether_a_token_is_new(zora, try_file):
    zora.is_pruned = True
    buy, token = zora.recording["expected"]["trades"][0]["tx_hash"], zora.recording["expected"]["token"]
    block = int(zora.recording["transactions"][1]["receipt"]["blockNumber"], 16)
    assert (
        f"  it is unknown whether {token} is new: no node has the state of block {block - 1}, and the transaction does"
        " not mint the token's whole supply"
    ) in try_file(_of_purchases(zora), "--tx", buy).splitlines()


def test_no_pool_names_the_pools_of_the_transaction(zora, check):
    expected, manager = zora.recording["expected"], zora.contract("pool_manager")
    token, pool = expected["token"], expected["pool_id"]
    event = next(
        line for line in check(('pool = "v4"', 'pool = "v3"'), ('pool_id = "poolKeyHash"', "")) if pool in line
    )
    assert event.startswith(f"Initialize of pool {pool} with ") and token in event
    assert event.endswith(f'by {manager}: the token\'s: declare pool = "v4"')


def test_a_pool_id_of_another_pool_is_named(zora, check):
    initialize = "0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"
    (log,) = zora.logs(initialize)
    log["topics"][1] = "0x" + "11" * 32
    lines = check()
    token = zora.recording["expected"]["token"]
    required = f'no pool of {token}: pool = "v4" is found by Initialize with the token, by the chain\'s v4_pool_manager'
    assert any(line.startswith(required) for line in lines)
    assert any(line.endswith("the token's, and `pool_id` names another pool") for line in lines)


def test_a_token_that_is_no_contract_is_named(zora, check):
    lines = check(('token = "coin"', 'token = "payoutRecipient"'), stored=False)
    assert any("has no code in block" in line and "`token` names no contract" in line for line in lines)
    zora.is_pruned = True
    lines = check(('token = "coin"', 'token = "payoutRecipient"'), stored=False)
    assert any("has no code at the newest block" in line for line in lines)


def test_a_reverted_transaction_is_named(zora, check):
    zora.launch["receipt"]["status"] = "0x0"
    assert check(stored=False)[0] == "the transaction was reverted"


def test_a_condition_that_does_not_hold_names_the_value(serve_launchpad, try_file, capsys):
    doppler = serve_launchpad("doppler-multicurve_1_weth")
    initializer = doppler.contract("initializer_v4_multicurve_and_hook")
    text = doppler.declaration().replace(initializer, doppler.contract("weth"))
    with pytest.raises(CommandError, match=NO_LAUNCH):
        try_file(text, "--tx", doppler.tx_hash)
    argument = f"argument initializer is {initializer}, and `when` expects one of "
    assert f"log 26 is no launch of launchpads.doppler.launch[0]: {argument}" in capsys.readouterr().out


def test_a_mistake_in_the_event_of_swap_parts_is_named(serve_launchpad, try_file):
    flaunch = serve_launchpad("flaunch-launch_1_fair_launch")
    buy = flaunch.recording["expected"]["trades"][0]["tx_hash"]
    text = flaunch.declaration().replace(
        "bytes32 indexed id, address indexed sender", "bytes32 indexed id, address sender"
    )
    output = try_file(text, "--tx", flaunch.tx_hash, "--trade", buy)
    assert "HookSwap(bytes32,address,int128,int128,uint128,uint128): log " in output
    assert (
        "has 2 indexed arguments (3 topics, 4 words of data), and the declaration marks 1: correct `indexed`" in output
    )


def test_a_token_with_too_many_decimals_is_named(zora, check):
    token = zora.recording["expected"]["token"]
    (view,) = (
        call for call in zora.recording["calls"] if call["data"] == "0x313ce567" and call["to"].lower() == token.lower()
    )
    view["result"] = f"0x{78:064x}"
    assert f"{token} is not stored: it has 78 decimals, more than 77" in check(stored=False)
