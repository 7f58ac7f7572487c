"""`manage.py try_launchpad` on real contracts' recorded launches, which a node on loopback serves.

No test may use the database: the command stores nothing.
"""

import re

import pytest
from django.core.management import CommandError

from tests.nodes.recorded_launchpad import DATA

RECORDINGS = sorted(path.stem for path in DATA.glob("*.json"))
ZORA, FLAUNCH, DOPPLER = (
    "zora-content_coin_1_of_a_creator_coin",
    "flaunch-launch_1_fair_launch",
    "doppler-multicurve_1_weth",
)
CURVE = "virtuals-launch_1_graduates"
REHYPE, CREATOR_COIN = "doppler-rehype_1_decaying_fee", "zora-creator_coin_1"


def line_of(output, field):
    """Return the value and the origin in a field's first line."""
    found = re.search(rf"^  {field} +(.*?)  \((.*)\)$", output, re.M)
    assert found, output
    return found.groups()


@pytest.mark.parametrize("name", RECORDINGS)
def test_values_are_those_of_the_contracts_views_each_with_its_origin(name, serve_launchpad, try_file):
    pad = serve_launchpad(name)
    output = try_file(pad.declaration(), "--tx", pad.tx_hash)
    expected = pad.recording["expected"]
    for launch in expected.get("launches", [expected]):
        for field, of_views in (("token", launch["token"]), ("name", launch["name"]), ("symbol", launch["symbol"])):
            shown = of_views if field == "token" else repr(of_views)
            assert re.search(rf"^  {field} +{re.escape(shown)}  \(\S", output, re.M), field
    # Only decimals may have its default: recordings with several launches lack this view.
    assert set(re.findall(r"^  (.+?) +.*\(the default", output, re.M)) <= {"decimals"}


def test_each_kind_of_origin_is_named(serve_launchpad, try_file):
    pad = serve_launchpad(DOPPLER)
    manager, token = pad.contract("pool_manager"), pad.recording["expected"]["token"]
    initialize = (
        "Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee,"
        " int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)"
    )
    hook = f'{{ log = "{initialize}", by = "{manager}", having = "currency0", result = "hooks" }}'
    text = pad.declaration()
    output = try_file(text, "--tx", pad.tx_hash)
    assert line_of(output, "token") == (token, "argument asset")
    assert line_of(output, "creator")[1] == "the transaction's sender"
    assert line_of(output, "uri")[1] == f"tokenURI() of {token} at block 54"
    assert line_of(output, "supply")[1] == f"totalSupply() of {token} at block 54"
    assert line_of(output, "pool")[1] == f"Initialize by {manager} (log 4)"
    assert line_of(output, "quote symbol") == ("'WETH'", "quote token of the registry")
    assert line_of(output, "image") == ("missing", "not declared")
    assert f"\ncalls\n  tokenURI() of {token} at block 54: 'ipfs://" in output
    joined = try_file(text.replace('creator = { tx = "from" }', f"creator = {hook}"), "--tx", pad.tx_hash)
    value, origin = line_of(joined, "creator")
    assert value == pad.contract("initializer_v4_multicurve_and_hook")
    assert origin.startswith("hooks of Initialize(") and origin.endswith(
        f"by {manager}, of which currency0 is the token"
    )


def test_the_first_usable_value_is_named(serve_launchpad, try_file):
    pad = serve_launchpad("flaunch-launch_3_no_fair_launch")
    text = pad.declaration().replace('uri = "_params.tokenUri"', 'uri = ["_params.tokenUri", "_params.name"]')
    assert line_of(try_file(text, "--tx", pad.tx_hash), "uri") == ("'Plain'", "argument _params.name")


def test_logs_of_its_contracts_that_no_declaration_names_are_listed(serve_launchpad, try_file):
    pad = serve_launchpad(FLAUNCH)
    output = try_file(pad.declaration(), "--tx", pad.tx_hash)
    (line,) = re.findall(r"that no declaration names\n((?:  .*\n)+)", output)
    assert line.startswith(f"  log 10 of {pad.contract('positionManager_factory_and_hook')}: topic0 0x1a111a34")
    assert line.endswith("2 topics, 5 words of data\n")


@pytest.mark.parametrize("name", [CREATOR_COIN, FLAUNCH, REHYPE, DOPPLER, CURVE])
def test_trades_are_those_of_the_balances_and_internal_swaps_are_none(name, serve_launchpad, try_file):
    pad = serve_launchpad(name)
    trades = pad.recording["expected"]["trades"]
    output = try_file(
        pad.declaration(), "--tx", pad.tx_hash, *(part for trade in trades for part in ("--trade", trade["tx_hash"]))
    )
    found = re.findall(r"^  (0x\w+) log \d+: trade of (0x\w+) by 0x\w+: (buy|sell), ", output, re.M)
    assert found == [(trade["tx_hash"], trade["trader"], trade["side"].split("_")[0]) for trade in trades]
    internal = re.findall(r"internal swap by (0x\w+), price and no trade", output)
    senders = {"hook", "doppler_hook_rehype"} & pad.recording["contracts"].keys()
    assert set(internal) == ({pad.contract(role) for role in senders} if name in (CREATOR_COIN, REHYPE) else set())
    assert ("HookSwap: part of a swap, no trade of its own" in output) == (name == FLAUNCH)
    assert (", with parts by the hook" in output) == (name == FLAUNCH)


def test_a_quote_token_without_decimals_makes_no_trade(serve_launchpad, try_file):
    pad = serve_launchpad(ZORA)
    buy = pad.recording["expected"]["trades"][0]["tx_hash"]
    output = try_file(pad.declaration(), "--tx", pad.tx_hash, "--trade", buy)
    assert f"{buy} log 0: no trade: the quote token's decimals are unknown" in output


def test_a_range_counts_launches_and_logs(serve_launchpad, try_file):
    pad = serve_launchpad(FLAUNCH)
    last = int(pad.recording["transactions"][-1]["receipt"]["blockNumber"], 16)
    output = try_file(pad.declaration(), "--range", f"0:{last}")
    launches, undecodable, unnamed = output.splitlines()[0], output.count("1 launches, 0 can't"), output.count("names ")
    assert launches == f"blocks 0 to {last}: 1 launches" and undecodable == 1 and unnamed
    pad.logs(pad.launch["receipt"]["logs"][7]["topics"][0])[0]["data"] = "0x"
    broken = try_file(pad.declaration(), "--range", f"0:{last}")
    assert "1 logs, 0 launches, 1 can't be decoded" in broken
    assert "no declaration names 1 logs of" in output


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        # Each token has its own curve, and the last trade but two graduates it.
        (
            CURVE,
            {
                "trade Swap(uint256,uint256,uint256,uint256)": 4,
                "change Graduated(address,address)": 1,
            },
        ),
        (
            FLAUNCH,
            {
                "part of swaps HookSwap(bytes32,address,int128,int128,uint128,uint128)": 3,
                "change Transfer(address,address,uint256)": 2,
            },
        ),
        (DOPPLER, {"claim Release(bytes32,address,uint256,uint256)": 3}),
    ],
)
def test_a_range_counts_later_events_by_declaration(name, counts, serve_launchpad, try_file):
    pad = serve_launchpad(name)
    last = int(pad.recording["transactions"][-1]["receipt"]["blockNumber"], 16)
    output = try_file(pad.declaration(), "--range", f"0:{last}")
    for declaration, logs in counts.items():
        line = f"  {declaration}: {logs} logs, {logs} decoded, 0 can't be decoded, {logs} about these launches"
        assert line in output.splitlines(), output


def test_a_range_without_the_launch_has_no_mistake_about_its_trades(serve_launchpad, try_file):
    pad = serve_launchpad(FLAUNCH)
    first, last = (int(pad.recording["transactions"][place]["receipt"]["blockNumber"], 16) for place in (1, -1))
    output = try_file(pad.declaration(), "--range", f"{first}:{last}")
    assert "3 logs, 3 decoded, 0 can't be decoded, 0 about these launches" in output
    (part,) = {log["topics"][0] for log in _logs(pad) if log["topics"][0].startswith("0x365f10e9")}
    next(log for log in _logs(pad) if log["topics"][0] == part)["data"] = "0x"
    broken = try_file(pad.declaration(), "--range", f"{first}:{last}")
    assert "3 logs, 2 decoded, 1 can't be decoded, 0 about these launches" in broken


def test_a_range_counts_logs_of_a_launchs_hook_that_launches_itself(serve_launchpad, try_file):
    pad = serve_launchpad(FLAUNCH)
    claim = """
[[launchpads.flaunch.claim]]
event = "HookFee(bytes32 indexed id, address indexed sender, uint128 feeAmount0, uint128 feeAmount1)"
pool_id = "id"
by = "hook"
recipient = "sender"
amount0 = "feeAmount0"
amount1 = "feeAmount1"
"""
    last = int(pad.recording["transactions"][-1]["receipt"]["blockNumber"], 16)
    topic = "0x444083dc"
    assert f"with topic0 {topic}" in try_file(pad.declaration(), "--range", f"0:{last}")
    output = try_file(pad.declaration() + claim, "--range", f"0:{last}")
    logs = sum(log["topics"][0].startswith(topic) for log in _logs(pad))
    line = f"{logs} logs, {logs} decoded, 0 can't be decoded, {logs} about these launches"
    assert f"  claim HookFee(bytes32,address,uint128,uint128): {line}" in output.splitlines() and logs
    assert f"with topic0 {topic}" not in output


def _logs(pad):
    return [log for each in pad.recording["transactions"] for log in each["receipt"]["logs"]]


def test_a_file_without_a_launchpad_and_another_chain_are_refused(serve_launchpad, try_file):
    pad = serve_launchpad(ZORA)
    with pytest.raises(CommandError, match=r"has no table \[launchpads"):
        try_file("", "--tx", pad.tx_hash)
    with pytest.raises(CommandError, match="`contracts` has no chain 1: it has 31337; name one by --chain"):
        try_file(pad.declaration(), "--tx", pad.tx_hash, "--chain", "1")
    with pytest.raises(CommandError, match="expected two block numbers"):
        try_file(pad.declaration(), "--range", "5:4")
    with pytest.raises(CommandError, match="--range 5:100000: the newest block is "):
        try_file(pad.declaration(), "--range", "5:100000")


def test_changes_and_claims_of_further_transactions_are_shown(serve_launchpad, try_file):
    pad = serve_launchpad(DOPPLER)
    first, second = pad.recording["expected"]["fee_claims"]
    hashes = [part for claim in (first, second) for part in ("--trade", claim["tx_hash"])]
    output = try_file(pad.declaration(), "--tx", pad.tx_hash, *hashes)
    token, quote = (pad.recording["expected"][key] for key in ("token", "quote"))
    emitter = pad.contract("initializer_v4_multicurve_and_hook")
    assert output.partition("\nchanges and claims\n")[2].splitlines()[:2] == [
        f"  {first['tx_hash']} log 19: claim by {emitter}: {first['beneficiary']} is paid"
        f" {first['token_amount']} of {token} and {first['quote_amount']} of {quote}, in smallest units",
        f"  {second['tx_hash']} log 17: claim by {emitter}: {second['beneficiary']} is paid"
        f" {second['token_amount']} of {token}, in smallest units",
    ]


def test_a_change_of_an_nft_is_shown_for_its_token_only(serve_launchpad, try_file):
    pad = serve_launchpad(FLAUNCH)
    (change,) = pad.recording["expected"]["creator_changes"]
    output = try_file(pad.declaration(), "--tx", pad.tx_hash, "--trade", change["tx_hash"])
    nft = pad.contract("flaunch_erc721")
    lines = output.partition("\nchanges and claims\n")[2].splitlines()[:2]
    assert lines == [
        f"  {pad.tx_hash} log 0: change: admin {pad.recording['expected']['creator']!r}, by {nft}",
        f"  {change['tx_hash']} log 0: change: admin {change['to']!r}, by {nft}",
    ]
