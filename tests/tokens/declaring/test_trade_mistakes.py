"""What `try_launchpad` prints about mistakes in declared trades, on our own bonding curve and on recordings."""

import re

import pytest

from development.devchain.anvil import LAUNCHPADS_FILE
from tests.nodes.contract_events import TRANSFER
from tests.nodes.devchain_launches import SENDER
from tests.nodes.log_encoding import emit, log_json
from tests.nodes.recorded_launchpad import DATA

RECORDINGS = sorted(path.stem for path in DATA.glob("*.json"))
OWN_CURVE = "virtuals-launch_1_graduates"
MOVED = ": of a pool that the token moved to, add the move by --trade"
ETHER, TOKENS = 10**18, 10**24
PRICE = 'price = { quote_reserve = "nativeReserve", token_reserve = "tokenReserve" }'
SIDES = 'is_buy = "isBuy"\ntoken_out = "tokenAmount"\nquote_in = "nativeAmount"\n'


def mistakes_of(output):
    return [line.removeprefix("  ") for line in output.partition("\ncheck\n")[2].splitlines()]


@pytest.fixture
def curve(launch_curve):
    return launch_curve()


@pytest.fixture
def try_curve(curve, try_file):
    """Return a function that tries the curve's launch and further transactions by its declaration with changes."""

    def tried(*changes, trades=()):
        text = LAUNCHPADS_FILE.read_text(encoding="utf-8").partition("# PlainLaunchpad")[0]
        for given, changed in changes:
            assert given in text
            text = text.replace(given, changed)
        return try_file(text, "--tx", curve.launch, *(part for trade in trades for part in ("--trade", trade)))

    return tried


def test_the_right_declaration_of_a_curve_has_no_mistake_until_its_end_and_after(curve, try_curve):
    small, sale, last = curve.buy(ETHER // 100), curve.sell(TOKENS), curve.buy(5 * ETHER)
    output = try_curve(trades=(small, sale, last))
    assert mistakes_of(output) == []
    assert len(re.findall(r"trade of 0x\w+ by 0x\w+: (?:buy|sell), ", output)) == 4
    assert "no declaration names" not in output


def test_price_and_average_of_a_trade_are_shown(curve, try_curve):
    at = curve.node.deployment
    (line,) = [line for line in try_curve().splitlines() if "trade of" in line]
    amounts = re.search(r"buy, (\d+) of the token for (\d+) of the quote.*; price (\S+) after it, (\S+) on av", line)
    sold, paid, price, average = map(float, amounts.groups())
    # The curve's own reserves: one ether for 1,066,666,667 tokens, before.
    assert price == pytest.approx((1e18 + paid) / (1_066_666_667e18 - sold), rel=1e-5)
    assert average == pytest.approx(paid / sold, rel=1e-5)
    assert f"trade of {SENDER} by {at.curve_launchpad}" in line


def test_another_topic_of_a_trade_names_the_difference(curve, try_curve):
    trade = curve.buy(ETHER)
    declared = "Traded(address,address,bool,uint256,uint256,uint256,uint256,uint128)"
    output = try_curve(("uint256 nativeReserve", "uint128 nativeReserve"), trades=(trade,))
    unnamed = output.partition("no declaration names\n")[2].splitlines()
    log, similar = unnamed[:2]
    assert f"of {curve.node.deployment.curve_launchpad}: topic0 0x" in log and log.endswith(
        "3 topics, 6 words of data, and 1 more"
    )
    assert similar == (
        f"    that topic0 is {declared.replace('uint128', 'uint256')}, and the declaration has {declared}: the type"
        " uint128 is uint256 in the contract"
    )
    (mistake,) = mistakes_of(output)
    assert mistake.startswith(
        f"{trade} has no trade, change or claim of {curve.token}: none of its logs is a declared trade: {declared} is"
    )


def test_wrong_indexed_arguments_of_a_trade_are_named(curve, try_curve):
    first, *_ = mistakes_of(try_curve(("address indexed trader", "address trader")))
    assert first.endswith(
        "has 2 indexed arguments (3 topics, 6 words of data), and the declaration marks 1: correct `indexed`"
    )


def test_a_trade_about_another_token_is_named(curve, launch_curve, try_curve):
    other = launch_curve()
    trade = other.buy(ETHER)
    (mistake,) = mistakes_of(try_curve(trades=(trade,)))
    assert re.fullmatch(
        rf"{trade} has no trade, change or claim of {curve.token}: log \d+, Traded is about {other.token}", mistake
    )
    declared = 'token = "token"\ntrader = "trader"'
    (mistake,) = mistakes_of(try_curve((declared, 'token = "trader"'), trades=(curve.buy(ETHER),)))
    assert mistake.endswith(f"Traded is about {SENDER}")


def test_a_transaction_without_any_trade_is_named(curve, try_curve):
    trade = curve.node.transfer()
    (mistake,) = mistakes_of(try_curve(trades=(trade,)))
    assert f"{trade} has no trade, change or claim of {curve.token}: none of its logs is a declared trade" in mistake


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            [(PRICE, 'price = { quote_reserve = "tokenReserve", token_reserve = "nativeReserve" }')],
            ["`quote_reserve` and `token_reserve` are exchanged"],
        ),
        # The reserve has nearly 10^27 units.
        ([(PRICE, 'price = { value = "nativeReserve", decimals = 18 }')], ["decimals = 27 would fit"]),
        # The launch's own purchase may raise the price tenfold: the curve may sell only a small part of the supply.
        ([(PRICE, 'price = { value = "nativeReserve", decimals = 28 }')], []),
        (
            [('"tokenAmount"', '"x"'), ('"nativeAmount"', '"tokenAmount"'), ('"x"', '"nativeAmount"')],
            ["`token_out` and `quote_in` are exchanged"],
        ),
        (
            [
                (f"\n{PRICE}", ""),
                ('"tokenAmount"', '"x"'),
                ('"nativeAmount"', '"tokenAmount"'),
                ('"x"', '"nativeAmount"'),
            ],
            ["`token_out` and `quote_in` are exchanged"],
        ),
        ([(f"\n{PRICE}", ""), ('token_out = "tokenAmount"', 'token_out = "fee"')], ["is `token_out` another one?"]),
        (
            [(SIDES, 'token_in = "tokenAmount"\nquote_out = "nativeAmount"\n')],
            ["it is declared a sale, and the token moves from curve to trader: the keys are those of the other side"],
        ),
    ],
)
def test_wrong_amounts_and_prices_of_a_trade_name_their_cause(changes, expected, curve, try_curve):
    mistakes = mistakes_of(try_curve(*changes))
    assert len(mistakes) == len(expected), mistakes
    assert all(cause in mistake for mistake, cause in zip(mistakes, expected, strict=True)), mistakes


def test_only_a_small_later_trade_has_a_price_near_its_average(curve, try_curve):
    # They buy 0.8 and 5 % of the supply.
    small, larger = curve.buy(ETHER // 100), curve.buy(ETHER // 16)
    wrong = (PRICE, 'price = { value = "nativeReserve", decimals = 26 }')
    of_launch = mistakes_of(try_curve(wrong))
    assert mistakes_of(try_curve(wrong, trades=(larger,))) == of_launch
    assert len(mistakes_of(try_curve(wrong, trades=(small,)))) == len(of_launch) + 1


def test_a_sale_that_is_declared_a_purchase_is_named(curve, try_curve):
    sale = curve.sell(TOKENS)
    (mistake,) = mistakes_of(try_curve(('is_buy = "isBuy"\n', ""), trades=(sale,)))
    assert "it is declared a purchase, and the token moves from trader to curve" in mistake


def test_a_trader_that_is_another_argument_is_named(curve, try_curve):
    sale, wrong = curve.sell(TOKENS), ('trader = "trader"', 'trader = "token"')
    bought, sold = mistakes_of(try_curve(wrong, trades=(sale,)))
    for mistake, way, role in ((bought, "to", "recipient"), (sold, "from", "sender")):
        assert f"Traded: `trader` is {curve.token}, and the token has no transfer {way} it of the amount " in mistake
        assert mistake.endswith(f": the {role} is {SENDER}, as `trader` is")


BOUGHT = "Bought(address indexed who, address indexed payer, uint256 tokens, uint256 quote)"
STRANGER, OTHER = (f"0x{digits * 20}" for digits in ("99", "98"))


@pytest.mark.parametrize(("forwards", "payer_is_recipient"), [(False, True), (True, True), (False, False)])
@pytest.mark.parametrize("sends_itself", [False, True])
def test_a_router_may_be_the_trader_where_no_better_account_is_known(
    forwards, payer_is_recipient, sends_itself, serve_launchpad, try_file
):
    pad = serve_launchpad(OWN_CURVE)
    trade = pad.recording["expected"]["trades"][0]
    (mined,) = (each for each in pad.recording["transactions"] if each["transaction"]["hash"] == trade["tx_hash"])
    mined["transaction"]["from"] = trade["trader"] if sends_itself else OTHER
    logs = mined["receipt"]["logs"]
    swap, token = logs[-1], pad.recording["expected"]["token"]
    _, sold, paid, _ = (int(swap["data"][start : start + 64], 16) for start in range(2, 258, 64))
    signature = "Bought(address indexed,address indexed,uint256,uint256)"
    emitted = [emit(swap["address"], signature, STRANGER, trade["trader"] if payer_is_recipient else OTHER, sold, paid)]
    # It takes a part for itself.
    ways = [(OTHER, STRANGER, 9), (STRANGER, OTHER, 8)] if forwards else []
    emitted += [emit(token, TRANSFER, *way) for way in ways]
    logs.remove(swap)
    for index, log in enumerate(emitted, int(swap["logIndex"], 16)):
        logs.append(swap | log_json(log) | {"logIndex": hex(index)})
    declared = f'[[launchpads.virtuals.trade]]\nevent = "{BOUGHT}"\ntrader = "%s"\n'
    declared += 'token_out = "tokens"\nquote_in = "quote"\n\n[[launchpads.virtuals.change]]'
    head, _, rest = pad.declaration().partition("[[launchpads.virtuals.change]]")
    as_payer, as_sender = "as `payer` is", "the transaction's sender: leave out `trader`"
    cause = as_payer if payer_is_recipient else as_sender if sends_itself else ""
    for argument, is_named in (("who", cause and not forwards), ("payer", cause == as_sender)):
        mistakes = mistakes_of(
            try_file(head + declared % argument + rest, "--tx", pad.tx_hash, "--trade", trade["tx_hash"])
        )
        assert len(mistakes) == bool(is_named), mistakes
        assert all(mistake.endswith(f"the recipient is {trade['trader']}, {cause}") for mistake in mistakes)


TRADED = (
    "Traded(address indexed token, address indexed trader, bool isBuy, uint256 tokenAmount, uint256 nativeAmount,"
    " uint256 fee, uint256 tokenReserve, uint256 nativeReserve)"
)
FIRST_TRADE = (
    f'{{ log = "{TRADED}", by = "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE", having = "token", result = "%sReserve" }}'
)
NATIVE, TOKEN = (FIRST_TRADE % name for name in ("native", "token"))


@pytest.mark.parametrize(
    ("price", "cause"),
    [
        (f"{{ quote_reserve = {NATIVE}, token_reserve = {TOKEN} }}", None),
        (f"{{ value = {NATIVE}, decimals = 27 }}", None),
        (f"{{ value = {NATIVE}, decimals = 18 }}", "decimals = 27 would fit"),
        (f"{{ value = {NATIVE}, decimals = 28 }}", None),
        (f"{{ value = {NATIVE}, decimals = 26 }}", "decimals = 27 would fit"),
        (
            f"{{ quote_reserve = {TOKEN}, token_reserve = {NATIVE} }}",
            "`quote_reserve` and `token_reserve` are exchanged",
        ),
        (f"{{ quote_reserve = {NATIVE}, token_reserve = {NATIVE} }}", "which are smallest units: 10^9 is too much"),
        (f"{{ value = {NATIVE}, decimals = 65 }}", "has no value, or one beyond 10^38"),
    ],
)
def test_a_wrong_price_of_a_launch_names_both_prices_and_fitting_decimals(price, cause, curve, try_curve):
    mistakes = mistakes_of(try_curve(('quote = "native"\n', f'quote = "native"\nprice = {price}\n')))
    assert len(mistakes) == bool(cause), mistakes
    assert not cause or (cause in mistakes[0] and mistakes[0].startswith("`price` of the launch "))
    if cause and "beyond" not in cause:
        start, average = map(
            float, re.findall(r"is (\S+), \S+ times the average (\S+) of the earliest tried trade", mistakes[0])[0]
        )
        assert average == pytest.approx(1e-9, rel=0.1) and not 1 / 5 < start / average < 5


def test_a_wrong_price_of_a_launch_shows_in_a_later_trade(serve_launchpad, try_file):
    pad = serve_launchpad(OWN_CURVE)
    trade = pad.recording["expected"]["trades"][0]["tx_hash"]
    price = 'result = "reserve1" }, token_reserve'
    value, rest = pad.declaration().split(price)
    wrong = f"{value}{price}{rest.replace('reserve0', 'reserve1', 2).replace('reserve1', 'reserve0', 1)}"
    assert mistakes_of(try_file(wrong, "--tx", pad.tx_hash)) == []
    (mistake,) = mistakes_of(try_file(wrong, "--tx", pad.tx_hash, "--trade", trade))
    assert "`price` of the launch is 1, " in mistake and f" of {trade}): check `quote_reserve`" in mistake


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_trade_or_event_of_the_recorded_launchpads_has_a_mistake(name, serve_launchpad, try_file):
    pad = serve_launchpad(name)
    of_launch = mistakes_of(try_file(pad.declaration(), "--tx", pad.tx_hash))
    expected = pad.recording["expected"]
    # Trades in a pool count with the transaction that moved the token to it.
    moves = (expected.get("migration"), expected.get("graduation"))
    claims = expected.get("fee_claims", ()) if ".claim]]" in pad.declaration() else ()
    listed = (*expected.get("trades", ()), *expected.get("creator_changes", ()), *claims)
    hashes = {each["tx_hash"] for each in (*listed, *moves) if each}
    further = [part for tx_hash in sorted(hashes) for part in ("--trade", tx_hash)]
    assert mistakes_of(try_file(pad.declaration(), "--tx", pad.tx_hash, *further)) == of_launch


def test_trades_of_a_launch_without_a_curve_are_named(curve, try_curve):
    # The launchpad has another launch, which has a curve.
    launch = '[[launchpads.curve.launch]]\n{0}event = "Other(address token)"\ntoken = "token"\nquote = "native"\n\n'
    contracts = f'contracts = {{ 31337 = ["{curve.node.deployment.curve_launchpad}"] }}\n'
    first = "[[launchpads.curve.trade]]"
    output = try_curve(
        ('quote = "native"', 'pool = "v4"'), (first, launch.format(contracts) + first), trades=(curve.buy(ETHER),)
    )
    assert sum("Traded: the launch has no curve: declare pool = " in line for line in mistakes_of(output)) == 2


def test_a_trade_by_another_contract_than_the_curve_is_named(serve_launchpad, try_file):
    pad = serve_launchpad(OWN_CURVE)
    trade, expected = pad.recording["expected"]["trades"][0]["tx_hash"], pad.recording["expected"]
    text = pad.declaration().replace('pool_id = "pair"', "")
    assert (
        f"{trade} has no trade, change or claim of {expected['token']}: log 6, Swap is emitted by"
        f" {expected['bonding_pair']}, and counts by the token's own curve (`pool_id`): {expected['token']}"
    ) in mistakes_of(try_file(text, "--tx", pad.tx_hash, "--trade", trade))


def test_logs_of_a_tokens_own_curve_that_no_declaration_names_are_listed(serve_launchpad, try_file):
    pad = serve_launchpad(OWN_CURVE)
    trade = pad.recording["expected"]["trades"][0]["tx_hash"]
    text = pad.declaration().replace("uint256 amount1Out", "uint128 amount1Out")
    output = try_file(text, "--tx", pad.tx_hash, "--trade", trade)
    curve = pad.recording["expected"]["bonding_pair"]
    assert f"  {trade} log 6 of {curve}: topic0 0x298c349c" in output
    assert "the declaration has Swap(uint256,uint256,uint256,uint128): the type uint128 is uint256" in output


def test_swaps_in_another_pool_name_it(serve_launchpad, try_file):
    pad = serve_launchpad("doppler-multicurve_1_weth")
    expected = pad.recording["expected"]
    trade, other = expected["trades"][0]["tx_hash"], "0x" + "11" * 32
    (mined,) = (each for each in pad.recording["transactions"] if each["transaction"]["hash"] == trade)
    for log in mined["receipt"]["logs"]:
        log["topics"] = [other if topic == expected["pool_id"] else topic for topic in log["topics"]]
    start = f"{trade} has no trade, change or claim of {expected['token']}: "
    mistakes = mistakes_of(try_file(pad.declaration(), "--tx", pad.tx_hash, "--trade", trade))
    assert mistakes[-2:] == [
        f"{start}no swap is in pool {expected['pool_id']}",
        f"{start}its swaps are in {other}{MOVED}",
    ]
