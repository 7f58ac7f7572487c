"""`manage.py draft_launchpad` on recorded launches: the draft loads, and a trial of it stores the launch."""

import json
import re

import pytest
from django.core.management import CommandError, call_command

from development.devchain import node_client
from development.devchain.anvil import LAUNCHPADS_FILE
from tests.nodes.devchain_launches import SENDER
from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.recorded_launchpad import DATA
from tokens.chains.abi.declarations import parse_event
from tokens.installation.installed_chains import installed_chain

RECORDINGS = sorted(path.stem for path in DATA.glob("*.json"))
# Of a bonding curve, whose trades no launch shows.
CURVE = "virtuals-launch_1_graduates"
# Events that an ABI of a factory usually has besides that of its launches.
OTHERS = (
    "Transfer(address indexed from, address indexed to, uint256 value)",
    "OwnershipTransferred(address indexed previousOwner, address indexed newOwner)",
    "Upgraded(address indexed implementation)",
)


def items(text):
    """Return the ABI of the declared events, and of others."""
    declared = [line.split('"')[1] for line in text.splitlines() if line.startswith("event = ")]
    return [parse_event(event) for event in (*OTHERS, *declared)]


@pytest.fixture
def draft(tmp_path, capsys):
    def drafted(pad, document, name="own-pad.json"):
        (tmp_path / name).write_text(json.dumps(document))
        call_command("draft_launchpad", "--tx", pad.tx_hash, "--abi", str(tmp_path / name), "--chain", str(CHAIN))
        return str(capsys.readouterr().out)

    return drafted


def stored(output):
    """Return the first launch of a trial: field -> value."""
    launch = output.partition("launchpads.")[2].partition("\n\n")[0].partition("\nlaunch by")[0]
    return dict(re.findall(r"^  (\S+(?: \S+)?) +(.+?)  \(", launch, re.M))


@pytest.mark.parametrize("name", [name for name in RECORDINGS if not name.startswith("virtuals")])
def test_a_draft_stores_what_the_built_in_declaration_does(name, serve_launchpad, draft, try_file):
    pad = serve_launchpad(name)
    declared = stored(try_file(pad.declaration(), "--tx", pad.tx_hash))
    drafted = stored(try_file(draft(pad, items(pad.declaration())), "--tx", pad.tx_hash))
    assert drafted == declared and declared["token"].startswith("0x")


def test_a_pair_that_a_curve_may_graduate_into_is_a_guess(serve_launchpad, draft, try_file):
    pad = serve_launchpad(CURVE)
    text = draft(pad, items(pad.declaration()))
    assert 'pool = "v2"  # guessed: "curve" if trades begin on a bonding curve; PairCreated by ' in text
    assert stored(try_file(text, "--tx", pad.tx_hash))["token"] == pad.recording["expected"]["token"]


def test_guesses_are_marked_and_what_equals_the_contracts_views_is_none(serve_launchpad, draft):
    pad = serve_launchpad("zora-trend_coin_1")
    lines = draft(pad, {"contractName": "Factory", "abi": items(pad.declaration())}, name="Trend Pad.json").splitlines()
    assert lines[2] == "[launchpads.trend_pad]"
    assert any(line.startswith('creator = "caller"  # guessed: by its name') for line in lines)
    assert 'symbol = "symbol"' in lines and 'pool_id = "poolKeyHash"' in lines
    # The event has neither; the decoder reads the name by itself.
    assert not any(line.startswith("name = ") for line in lines)
    uri = 'uri = { call = "function contractURI() view returns (string)" }  # guessed: the token\'s view'
    assert uri in lines


def test_names_that_an_abi_lacks_are_made(serve_launchpad, draft, try_file):
    pad = serve_launchpad("zora-trend_coin_1")
    (event,) = (item for item in items(pad.declaration()) if item["name"] == "TrendCoinCreated")
    for argument in (*event["inputs"], *event["inputs"][3]["components"]):
        argument["name"] = ""
    text = draft(pad, [event])
    assert 'token = "arg2"' in text and "int24 arg3, address arg4) arg3" in text
    assert stored(try_file(text, "--tx", pad.tx_hash))["token"] == pad.recording["expected"]["token"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([parse_event(OTHERS[0])], "no event of the ABI names a contract with .*; of its events .* has: Transfer"),
        ([], "no event can be declared; of a proxy, take the ABI of its implementation"),
        ({"bytecode": "0x"}, 'expected a JSON array, or an object with "abi"'),
        # Lists of a fixed length can't be declared.
        ([{"type": "event", "name": "A", "inputs": [{"name": "a", "type": "uint256[4]"}]}], "no event can be declared"),
    ],
)
def test_an_unusable_abi_is_refused(document, message, serve_launchpad, draft):
    with pytest.raises(CommandError, match=message):
        draft(serve_launchpad("zora-trend_coin_1"), document)


def test_without_old_state_the_token_is_found_by_its_views(serve_launchpad, draft):
    pad = serve_launchpad("zora-trend_coin_1")
    pad.is_pruned = True
    assert 'token = "coin"' in draft(pad, items(pad.declaration()))


def test_a_draft_of_a_compiled_layout_stores_the_same_launch(launchpad, capsys, try_file):
    tx_hash = launchpad.launch()
    call_command("draft_launchpad", "--tx", tx_hash, "--abi", "tokens/chains/abi/json/v4.json", "--chain", str(CHAIN))
    drafted = stored(try_file(capsys.readouterr().out, "--tx", tx_hash))
    (launch,) = installed_chain(CHAIN).read_transaction(tx_hash).launches
    values = (
        launch.token,
        repr(launch.name),
        repr(launch.symbol),
        launch.admin,
        launch.pool.address,
        str(launch.supply),
    )
    assert tuple(drafted[field] for field in ("token", "name", "symbol", "creator", "pool", "supply")) == values
    assert (drafted["tick"], drafted["quote"]) == (str(launch.pool.tick), launch.pool.paired_token)


def test_a_draft_of_a_bonding_curve_names_the_events_of_trades(launchpad, capsys, try_file):
    at = launchpad.deployment
    call = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)
    data = call.encode_abi("launch", ["Night Ferry", "FERRY", "ipfs://ferry"])
    sent = node_client.send_transaction(at.rpc_url, sender=SENDER, to=at.curve_launchpad, data=data, value=10**18)
    tx_hash = launchpad.mined(sent.to_0x_hex())
    artifact = "development/devchain/artifacts/CurveLaunchpad.json"
    call_command("draft_launchpad", "--tx", tx_hash, "--abi", artifact, "--chain", str(CHAIN))
    text = capsys.readouterr().out
    assert 'pool = "curve"  # guessed: no pool is made, and the ABI has events of trades' in text
    assert '# event = "Traded(address indexed token, address indexed trader, bool isBuy, ' in text
    drafted = try_file(text, "--tx", tx_hash)
    # As the development chain's own declaration, which has trades.
    whole = try_file(LAUNCHPADS_FILE.read_text(encoding="utf-8"), "--tx", tx_hash)
    assert stored(drafted) == stored(whole) and stored(whole)["name"] == "'Night Ferry'"
    assert f"trade of {SENDER} by {at.curve_launchpad}: buy, " in whole
