"""`manage.py draft_launchpad` on recorded launches: the draft loads, and its trial stores the launch."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from development.devchain.anvil import LAUNCHPADS_FILE
from development.devchain.node_client import load_artifact
from tests.nodes.devchain_launches import SENDER
from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.log_encoding import emit, log_json
from tests.nodes.recorded_launchpad import DATA
from tests.tokens.declaring.conftest import TradedCurve
from tokens.chains.abi.declarations import parse_event
from tokens.installation.installed_chains import installed_chain

RECORDINGS = sorted(path.stem for path in DATA.glob("*.json"))
# A launch on a bonding curve, which shows no trades.
CURVE = "virtuals-launch_1_graduates"
# Events that a factory's ABI usually has besides the launch event.
OTHERS = (
    "Transfer(address indexed from, address indexed to, uint256 value)",
    "OwnershipTransferred(address indexed previousOwner, address indexed newOwner)",
    "Upgraded(address indexed implementation)",
)


def items(text):
    """Return an ABI with the declared events, and with others."""
    declared = [line.split('"')[1] for line in text.splitlines() if line.startswith("event = ")]
    return [parse_event(event) for event in (*OTHERS, *declared)]


@pytest.fixture
def draft(tmp_path, capsys):
    def drafted(pad, document, *others, name="own-pad.json", trades=()):
        further = [part for trade in trades for part in ("--trade", trade)]
        for index, each in enumerate((document, *others)):
            file = tmp_path / (f"other-{index}.json" if index else name)
            file.write_text(json.dumps(each))
            further += ["--abi", str(file)]
        call_command("draft_launchpad", "--tx", pad.tx_hash, "--chain", str(CHAIN), *further)
        return str(capsys.readouterr().out)

    return drafted


def stored(output):
    """Return a trial's first launch: field -> value."""
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
        # Lists with a fixed length can't be declared.
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


@pytest.fixture
def draft_curve(launch_curve, capsys):
    """Return a function that drafts the development chain's curve, with a token's further transactions."""

    def drafted(*further):
        curve = launch_curve()
        trades = [part for send in further for part in ("--trade", send(curve))]
        artifact = "development/devchain/artifacts/CurveLaunchpad.json"
        call_command("draft_launchpad", "--tx", curve.launch, "--abi", artifact, "--chain", str(CHAIN), *trades)
        return curve, str(capsys.readouterr().out)

    return drafted


def further_transactions(pad):
    return [each["transaction"]["hash"] for each in pad.recording["transactions"][1:]]


def test_a_draft_of_a_bonding_curve_is_tried_as_the_development_chains_own_declaration(draft_curve, try_file):
    curve, text = draft_curve()
    assert 'pool = "curve"  # guessed: no pool is made, and the ABI has events of trades' in text
    purchase, sale, claim, last = curve.buy(10**17), curve.sell(10**23), curve.claim(), curve.buy(5 * 10**18)
    further = [part for tx_hash in (purchase, sale, claim, last) for part in ("--trade", tx_hash)]
    drafted = try_file(text, "--tx", curve.launch, *further)
    whole = try_file(LAUNCHPADS_FILE.read_text(encoding="utf-8"), "--tx", curve.launch, *further)
    assert drafted.replace("curvelaunchpad", "curve") == whole
    assert whole.count(f"trade of {SENDER} by ") == 4 and "change: pool changed" in whole and "claim by" in whole
    assert "\ncheck\n" not in whole


def test_each_line_about_later_events_is_guessed_unless_a_transaction_shows_it(draft_curve):
    _, text = draft_curve()
    later = text.partition("[[launchpads.curvelaunchpad.change]]")[2]
    assert all("guessed" in line for line in later.splitlines() if line and not line.startswith("[["))
    _, text = draft_curve(TradedCurve.claim)
    claim = text.partition("[[launchpads.curvelaunchpad.claim]]\n")[2].splitlines()
    assert re.fullmatch(r'event = "FeesClaimed\(.*\)"  # log 0 of 0x[0-9a-f]{64}', claim[0])
    assert claim[1] == 'token = "token"'


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_draft_with_all_transactions_of_a_recording_stores_its_launch(name, serve_launchpad, draft, try_file):
    pad = serve_launchpad(name)
    text = draft(pad, items(pad.declaration()), trades=further_transactions(pad))
    # A table that can't be declared is a comment: the file loads.
    assert stored(try_file(text, "--tx", pad.tx_hash))["token"] in str(pad.recording["expected"])


def test_a_curve_of_each_token_is_found_by_its_trades(serve_launchpad, draft, try_file):
    pad = serve_launchpad(CURVE)
    trades = [trade["tx_hash"] for trade in pad.recording["expected"]["trades"]]
    text = draft(pad, items(pad.declaration()), trades=trades)
    further = [part for trade in trades for part in ("--trade", trade)]
    lines = [
        re.findall(r"^  0x\w+ log \d+: (?:trade of|change:) .*", try_file(each, "--tx", pad.tx_hash, *further), re.M)
        for each in (text, pad.declaration())
    ]
    assert lines[0] == lines[1] and len(lines[0]) == 6
    assert 'pool_id = "pair"' in text and f'quote = "{pad.contract("quote_VIRTUAL")}"  # guessed: ' in text


PAIR_CREATED = "0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"
HOW = (
    "# No ABI has these events about the token. If one is a trade, a change or a claim, add its emitter's ABI to the"
    " command: --abi FACTORY.json --abi EMITTER.json"
)
SWAP = "0x298c349c"


def test_an_own_curve_without_its_abi_is_named_and_with_it_trades_are_drafted(serve_launchpad, draft, try_file):
    pad = serve_launchpad(CURVE)
    trades = [trade["tx_hash"] for trade in pad.recording["expected"]["trades"]]
    factory = [item for item in items(pad.declaration()) if item["name"] not in ("Swap", "Mint")]
    curve = [item for item in items(pad.declaration()) if item["name"] == "Swap"]
    first = draft(pad, factory, trades=trades)
    assert f"{HOW}\n" in first and "virtuals.trade" not in first
    line = rf"^# {pad.recording['expected']['bonding_pair']}: topic0 .*, {SWAP}, log 6 of {trades[0]}$"
    assert re.search(line, first, re.M)
    second = draft(pad, factory, curve, trades=trades)
    assert SWAP not in second and 'pool_id = "pair"' in second
    further = [part for trade in trades for part in ("--trade", trade)]
    assert try_file(second, "--tx", pad.tx_hash, *further).count(": trade of 0x") == 5


BOUGHT = "Bought(address indexed token, address indexed buyer, uint256 tokenAmount, uint256 quoteAmount)"
SHARED = "0x" + "77" * 20


def test_a_curve_that_tokens_share_beside_their_factory_is_one_of_its_contracts(serve_launchpad, draft, try_file):
    pad = serve_launchpad(CURVE)
    trade, token = pad.recording["expected"]["trades"][0], pad.recording["expected"]["token"]
    pad.code[SHARED] = 0
    (mined,) = (each for each in pad.recording["transactions"] if each["transaction"]["hash"] == trade["tx_hash"])
    swap = mined["receipt"]["logs"][-1]
    _, sold, paid, _ = (int(swap["data"][start : start + 64], 16) for start in range(2, 258, 64))
    signature = "Bought(address indexed,address indexed,uint256,uint256)"
    log = emit(SHARED, signature, token, trade["trader"], sold, paid)
    swap |= log_json(log)
    # The token gets no pair.
    logs = pad.launch["receipt"]["logs"]
    logs[:] = [each for each in logs if each["topics"][0] != PAIR_CREATED]
    factory = [item for item in items(pad.declaration()) if item["name"] == "PreLaunched"]
    first = draft(pad, factory, trades=[trade["tx_hash"]])
    assert f"# {SHARED}: topic0 {log.topics[0][:10]}, log 6 of {trade['tx_hash']}\n" in first
    assert "for a curve, add a purchase by --trade" in first
    text = draft(pad, factory, [parse_event(BOUGHT)], trades=[trade["tx_hash"]])
    factory_address = pad.contract("bonding_v5_factory")
    assert f'["{factory_address}", "{SHARED}"] }}  # guessed: the later ones emit trades' in text
    output = try_file(text, "--tx", pad.tx_hash, "--trade", trade["tx_hash"])
    assert f"trade of {trade['trader']} by {SHARED}: buy, " in output and "log 6 of" not in text.partition("No ABI")[2]


def test_a_factory_that_is_the_curve_itself_lacks_events_in_its_abi(launch_curve, draft):
    curve = launch_curve()
    pad = SimpleNamespace(tx_hash=curve.launch)
    abi = load_artifact("CurveLaunchpad").abi
    first = draft(pad, [each for each in abi if each.get("name") == "Launched"])
    assert HOW in first and f"# {curve.node.deployment.curve_launchpad}: topic0 0x" in first
    assert "No ABI has" not in draft(pad, abi)


def test_claims_by_a_hook_and_of_a_pool_are_found_by_their_logs(serve_launchpad, draft, try_file):
    pad = serve_launchpad("doppler-multicurve_1_weth")
    claims = [claim["tx_hash"] for claim in pad.recording["expected"]["fee_claims"]]
    text = draft(pad, items(pad.declaration()), trades=claims)
    assert '\npool_id = "poolId"\nby = "hook"  # guessed: ' in text
    further = [part for claim in claims for part in ("--trade", claim)]
    changes = try_file(text, "--tx", pad.tx_hash, *further).partition("\nchanges and claims\n")[2].splitlines()
    assert [line.split(" log ")[0].strip() for line in changes[:2]] == claims


# Trade events from launchpads that are built in, or that public readers decode.
@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (
            "TokenPurchase(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee,"
            " uint256 offers, uint256 funds)",
            ['token = "token"', 'trader = "account"', 'token_out = "amount"', 'quote_in = "cost"', 'fee = "fee"']
            + ['price = { value = "price", decimals = 18 }'],
        ),
        (
            "CurveSell(address indexed sender, address indexed token, uint256 amountIn, uint256 amountOut)",
            ['token = "token"', 'trader = "sender"', 'token_in = "amountIn"', 'quote_out = "amountOut"'],
        ),
        (
            "TokenBought(uint256 ts, address token, address buyer, uint256 amount, uint256 eth, uint256 fee,"
            " uint256 postPrice)",
            ['token = "token"', 'trader = "buyer"', 'token_out = "amount"', 'quote_in = "eth"', 'fee = "fee"']
            + ['price = { value = "postPrice", decimals = 18 }'],
        ),
        # What is missing is named, and the table is a comment.
        (
            "Trade(address indexed token, uint256 x, uint256 y)",
            [
                "# Trades with the curve lack: the side, as is_buy or as token_in and quote_out of sales.",
                '# token = "token"',
            ],
        ),
    ],
)
def test_arguments_of_trades_are_guessed_by_their_names(event, lines, tmp_path, capsys, launch_curve):
    curve = launch_curve()
    launched = next(each for each in load_artifact("CurveLaunchpad").abi if each.get("name") == "Launched")
    (tmp_path / "Own.json").write_text(json.dumps([launched, parse_event(event)]))
    arguments = ("--tx", curve.launch, "--abi", str(tmp_path / "Own.json"), "--chain", str(CHAIN))
    call_command("draft_launchpad", *arguments)
    found = [line.partition("  # ")[0] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line not in found] == []


def test_the_comments_of_the_guides_draft_are_those_of_drafts(draft_curve, serve_launchpad, draft):
    _, of_curve = draft_curve(TradedCurve.claim)
    names = ("zora-trend_coin_1", "flaunch-launch_1_fair_launch", "zora-creator_coin_1")
    of_recordings = [draft(pad, items(pad.declaration())) for pad in map(serve_launchpad, names)]
    drafted = {comment for text in (of_curve, *of_recordings) for comment in comments_of(text)}
    (example,) = re.findall(
        r"^```toml\n(.*?)^```$", Path("docs/launchpads.md").read_text(encoding="utf-8"), re.M | re.S
    )
    assert len(comments_of(example)) > 5 and comments_of(example) <= drafted


def comments_of(text):
    """Return a file's comments, without their own hashes and numbers."""
    comments = re.findall(r"(?:^|  )# (.*)$", text, re.M)
    return {re.sub(r"\d+", "N", re.sub(r"0x[0-9a-fA-F]+(\.\.\.)?", "HASH", comment)) for comment in comments}
