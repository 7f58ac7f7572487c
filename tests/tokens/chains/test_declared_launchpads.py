"""`[launchpads.<name>]` in registry files: what is read, and how each mistake is reported."""

from pathlib import Path

import pytest

from tokens.chains.evm.generations.launch_layouts import launch_layouts
from tokens.chains.evm.logs.log_decoding import launch_topics
from tokens.chains.evm.logs.log_filters import log_filters
from tokens.chains.registry.chains import RegistryError, load_registry

CHAIN = 8453
FACTORY = "0x777777751622c0d3258f214F9DF38E35BF45baF3"
EVENT = (
    "CoinCreated(address indexed caller, string name, address coin,"
    " (address currency0, address currency1, uint24 fee) poolKey, address[] owners)"
)
LAUNCH = f"""
[launchpads.coins]
title = "Coins"
pool = "v4"

[[launchpads.coins.launch]]
contracts = {{ {CHAIN} = ["{FACTORY}"] }}
event = "{EVENT}"
token = "coin"
name = "name"
creator = ["owners.0", {{ tx = "from" }}]
"""


@pytest.fixture
def load(tmp_path: Path):
    """Return a function that loads a registry with this text as the operator's file."""

    def loaded(text, *names):
        path = tmp_path / "own.toml"
        path.write_text(text)
        return load_registry(path, launchpads={CHAIN: names} if names else {})

    return loaded


def mistakes(load, text, *names):
    with pytest.raises(RegistryError) as error:
        load(text, *names)
    return [(mistake.key_path, mistake.rule) for mistake in error.value.mistakes]


def test_a_declared_launchpad_is_indexed_where_its_chain_names_it(load):
    source = (FACTORY.lower(), "0x")
    without = load(LAUNCH).chain(CHAIN)
    alone = load(LAUNCH, "coins").chain(CHAIN)
    both = load(LAUNCH, "clanker", "coins").chain(CHAIN)
    assert FACTORY.lower() not in without.emitters and without.factories
    assert FACTORY.lower() in alone.emitters and not alone.factories
    assert both.factories == without.factories
    assert [pad.title for pad in both.launchpads] == ["Coins"]
    assert source[0] in {address for address, _ in launch_layouts(both)}
    assert len(launch_layouts(both)) == len(launch_layouts(without)) + 1
    # The PoolManager logs declared launches' pools.
    assert both.pools_of_launches == {both.v4_pool_manager.lower()} and not without.pools_of_launches
    assert len(launch_topics(both)) == len(launch_topics(without)) + 2


def test_other_chains_stay_as_they_are(load):
    assert load(LAUNCH, "coins").chain(1).factories == load_registry().chain(1).factories


@pytest.mark.parametrize(
    ("given", "changed", "place", "rule"),
    [
        ('token = "coin"', "", "token", "missing: the argument that has the launched token"),
        ('token = "coin"', 'token = "name"', "token", "name is string: expected address"),
        ('name = "name"', 'name = "title"', "name", "title is not there: expected caller, name, coin, poolKey, owners"),
        ('name = "name"', 'name = "poolKey.fee"', "name", "poolKey.fee is uint24: expected string"),
        ('name = "name"', 'nome = "name"', "nome", "unknown key: expected one of"),
        ("owners.0", "owners.first", "creator[0]", "first is not there: expected a place from 0"),
        (FACTORY, FACTORY.lower()[:-1], f"contracts.{CHAIN}[0]", "expected 0x and 40 hexadecimal digits"),
        ("address indexed caller,", "address indexed,", "event", "expected"),
        ('tx = "from"', 'tx = "to"', "creator[1].tx", 'expected "from", for an address'),
        ('name = "name"', 'pool_id = "coin"', "pool_id", "coin is address: expected bytes32"),
        (
            'name = "name"',
            'pool_id = { call = "function poolId() view returns (bytes32)" }',
            "pool_id",
            "expected an argument or { log = ... }: calls come later",
        ),
        (
            'name = "name"',
            'price = { value = "poolKey.fee", decimals = 18 }',
            "price",
            "expected of a curve only: other pools have a price of their own",
        ),
        (
            'name = "name"',
            f'uri = {{ log = "Set(address coin, string uri)", by = "{FACTORY}", result = "uri" }}',
            "uri.having",
            "missing: a contract of several tokens emits it",
        ),
        ('name = "name"', 'when = [{ value = "name", is = [] }]', "when[0].is", "expected texts, whole numbers"),
        ('name = "name"', 'when = [{ value = "name", is = [[1]] }]', "when[0].is", "expected texts, whole numbers"),
        (
            'name = "name"',
            'when = [{ value = "poolKey", is = ["a"] }]',
            "when[0].value",
            "poolKey is tuple: expected a single value",
        ),
        (
            'name = "name"',
            'when = [{ value = "owners", is = ["a"] }]',
            "when[0].value",
            "owners is address[]: expected a single value",
        ),
        (
            'name = "name"',
            f'when = [{{ value = "coin", is = ["{FACTORY.swapcase().replace("X", "x")}"] }}]',
            "when[0].is",
            "the EIP-55 checksum is wrong",
        ),
        ('token = "coin"', 'token = "."', "token", "an empty name is not there: expected caller, name, coin"),
        ('token = "coin"', 'token = ".coin."', "token", "an empty name is not there: expected caller, name, coin"),
        ("owners.0", "owners." + "9" * 5_000, "creator[0]", "9"),
        (f'{CHAIN} = ["{FACTORY}"]', f"{CHAIN} = []", f"contracts.{CHAIN}", "expected an address at least"),
        (f"{{ {CHAIN} =", f"{{ 0{CHAIN} =", f"contracts.0{CHAIN}", "expected the id of an EVM chain"),
    ],
)
def test_each_mistake_is_reported_with_its_place(load, given, changed, place, rule):
    assert given in LAUNCH
    ((found_place, found_rule),) = mistakes(load, LAUNCH.replace(given, changed))
    assert found_place == f"launchpads.coins.launch[0].{place}"
    assert found_rule.startswith(rule)


_RESERVES = "expected quote_reserve and token_reserve, or value and decimals from 0 to 77"
_VIEW = '{ call = "function reserve(address token) view returns (uint256)", to = "coin", args = ["coin"] }'


@pytest.mark.parametrize(
    ("price", "place", "rule"),
    [
        ('{ quote_reserve = "poolKey.fee" }', "", _RESERVES),
        ('{ value = "poolKey.fee", decimals = 78 }', "", _RESERVES),
        ('{ value = "poolKey.fee", decimals = true }', "", _RESERVES),
        ('"poolKey.fee"', "", _RESERVES),
        ('{ value = "name", decimals = 18 }', ".value", "name is string: expected uint8 or uint16"),
        (f'{{ quote_reserve = {_VIEW}, token_reserve = "poolKey.fee" }}', "", "expected views of both reserves"),
        (f"{{ value = {_VIEW}, decimals = 18 }}", "", "expected views of both reserves, or no view"),
    ],
)
def test_a_price_that_is_none_is_refused(load, price, place, rule):
    curve = LAUNCH.replace('name = "name"', f'pool = "curve"\nquote = "native"\nprice = {price}')
    ((found_place, found_rule),) = mistakes(load, curve)
    assert found_place == f"launchpads.coins.launch[0].price{place}" and found_rule.startswith(rule)


@pytest.mark.parametrize(
    "price",
    [
        '{ value = "poolKey.fee", decimals = 18 }',
        '{ quote_reserve = "poolKey.fee", token_reserve = ["poolKey.fee"] }',
        f"{{ quote_reserve = {_VIEW}, token_reserve = {_VIEW} }}",
    ],
)
def test_a_curve_may_have_a_starting_price(load, price):
    curve = LAUNCH.replace('name = "name"', f'pool = "curve"\nquote = "native"\nprice = {price}')
    (pad,) = load(curve, "coins").chain(CHAIN).launchpads
    assert pad.launches[0].fields.keys() >= {"quote_reserve", "token_reserve"}


TRADE = """
[[launchpads.coins.trade]]
event = "Bought(address coin, uint256 tokens, uint256 paid)"
token = "coin"
token_out = "tokens"
quote_in = "paid"
"""


def test_trades_without_a_curve_are_refused(load):
    rule = 'no launch has pool = "curve": trades in pools of Uniswap are read from the pools'
    assert mistakes(load, LAUNCH + TRADE) == [("launchpads.coins.trade", rule)]
    second = LAUNCH.partition("[[")[2].replace("CoinCreated", "CurveCreated")
    with_curve = f'{LAUNCH}[[{second}pool = "curve"\nquote = "native"\n{TRADE}'
    assert load(with_curve, "coins").chain(CHAIN).curve_trades


def test_a_curve_of_all_tokens_has_no_pool_id(load):
    curve = LAUNCH.replace('pool = "v4"', 'pool = "curve"') + 'quote = "native"\npool_id = "caller"\n'
    rule = "expected of a token's own curve only: trades with `token` are with a curve of all tokens"
    assert mistakes(load, curve + TRADE) == [("launchpads.coins.launch[0].pool_id", rule)]
    own = TRADE.replace('token = "coin"\n', "")
    assert load(curve + own, "coins").chain(CHAIN).curve_trades


def test_a_graduation_into_a_v4_pool_has_its_id(load):
    change = """
[[launchpads.coins.change]]
event = "Graduated(address coin, address pool)"
token = "coin"
set = "pool"
to = "pool"
pool = "v4"
"""
    ((place, rule),) = mistakes(load, LAUNCH + change)
    assert place == "launchpads.coins.change[0].to" and rule == "pool is address: expected bytes32"


WHEN = '\nwhen = [{ value = "caller", is = ["0x000000000000000000000000000000000000dEaD"] }]\n'


@pytest.mark.parametrize(
    ("own", "others", "is_tied"),
    [
        ("", "", True),
        ("", WHEN, False),
        (WHEN, WHEN, True),
        (WHEN, WHEN.replace("dEaD", "bEEF"), False),
        (WHEN, '\nwhen = [{ value = "name", is = ["Night Ferry"] }]\n', True),
    ],
)
def test_launchpads_that_share_an_event_differ_in_conditions(load, own, others, is_tied):
    text = LAUNCH + own + LAUNCH.replace("launchpads.coins", "launchpads.twins") + others
    assert load(text, "coins").chain(CHAIN).launchpads
    if not is_tied:
        assert len(load(text, "coins", "twins").chain(CHAIN).launchpads) == 2
        return
    ((place, rule),) = mistakes(load, text, "coins", "twins")
    assert place == f"LAUNCHPADS_{CHAIN}"
    assert rule.startswith("coins and twins both declare CoinCreated(") and rule.endswith(
        f"{FACTORY}: one of them needs more conditions in `when`"
    )


def test_a_name_that_no_launchpad_has_is_refused(load):
    ((place, rule),) = mistakes(load, LAUNCH, "coin")
    assert place == f"LAUNCHPADS_{CHAIN}"
    assert rule.startswith(f"coin is no launchpad of chain {CHAIN}: expected one of ") and "clanker, coins, " in rule


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("clanker", "generations are of this launchpad: only its title may be declared"),
        ("v4", "a generation has this name"),
    ],
)
def test_a_declared_launchpad_may_not_have_the_name_of_generations(load, name, rule):
    assert mistakes(load, LAUNCH.replace("launchpads.coins", f"launchpads.{name}")) == [(f"launchpads.{name}", rule)]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ('"Coins"', "expected a name of a-z, 0-9, _ and -, which begins with a letter"),
        ('"a,b"', "expected a name of a-z, 0-9, _ and -, which begins with a letter"),
        ("c" * 33, "expected a name of at most 32 characters"),
    ],
)
def test_a_name_that_tokens_or_settings_cannot_have_is_refused(load, name, rule):
    found = mistakes(load, LAUNCH.replace("launchpads.coins", f"launchpads.{name}"))
    assert found == [(f"launchpads.{name.strip(chr(34))}", rule)]
    (place,) = mistakes(load, f'[generations.g]\ntype = "g"\nevent = "v4"\nlaunchpad = "{name.strip(chr(34))}"')
    assert place == ("generations.g.launchpad", rule)


def test_launchpads_of_generations_have_a_title():
    registry = load_registry()
    assert registry.launchpads["clanker"].title == "Clanker"
    assert {registry.launchpad_of(name).name for name in registry.generations} == {"clanker", "liquid"}
    assert registry.generations_of("clanker") == tuple(name for name in registry.generations if name != "liquid")
    # The launchpad declares no launches, so that chains do not list it beside their generations.
    assert [pad for chain in registry.chains.values() for pad in chain.launchpads] == []


def test_a_title_is_declared_or_the_name(load):
    generation = '[generations.moon]\ntype = "moon_v1"\nevent = "v4"\nlaunchpad = "moonpad"\n'
    renamed = load('[launchpads.clanker]\ntitle = "Launches"\n' + generation + LAUNCH, "coins")
    assert {name: pad.title for name, pad in renamed.launchpads.items() if name in ("clanker", "moonpad", "coins")} == {
        "clanker": "Launches",
        "moonpad": "moonpad",
        "coins": "Coins",
    }
    assert (renamed.launchpad_of("moon").name, renamed.generations_of("moonpad")) == ("moonpad", ("moon",))
    assert (renamed.launchpad_of("coins").title, renamed.generations_of("coins")) == ("Coins", ("coins",))
    # A token may have a launchpad that is no longer in the registry.
    assert (renamed.launchpad_of("gone").title, renamed.generations_of("gone")) == ("gone", ("gone",))


def test_a_title_needs_generations_or_launches(load):
    ((place, rule),) = mistakes(load, '[launchpads.moonpad]\ntitle = "Moonpad"\n')
    assert place == "launchpads.moonpad.launch"
    assert rule == "missing: tables [[launchpads.moonpad.launch]]; no generation is of it"
    ((place, rule),) = mistakes(load, '[launchpads.clanker]\ntitle = "Clanker"\npool = "v4"\n')
    assert (place, rule) == ("launchpads.clanker.launch", "expected 1 to 20 tables [[launchpads.clanker.launch]]")


def test_a_switched_off_launchpad_keeps_its_internal_senders_and_its_parts_of_swaps(load):
    without, hook = load(LAUNCH).chain(CHAIN), "0x" + "Ab" * 20
    assert not without.launchpads
    assert without.internal_senders("zora", hook) == {hook}
    assert without.internal_senders("coins", hook) == without.internal_senders("v4", hook) == frozenset()
    parts = {topic0 for _, topic0 in without.swap_parts}
    (of_any,) = [each for each in log_filters(without) if each.addresses is None]
    assert parts and parts <= of_any.topics


def test_a_trade_that_is_declared_twice_is_refused(load):
    curve = LAUNCH.replace('name = "name"', 'pool = "curve"\nquote = "native"')
    trade = """
[[launchpads.coins.trade]]
event = "Bought(address coin, uint256 paid, uint256 received)"
token = "coin"
quote_in = "paid"
token_out = "received"
"""
    assert load(curve + trade, "coins").chain(CHAIN).launchpads
    twice = mistakes(load, curve + trade + trade)
    assert twice == [("launchpads.coins.trade", "Bought(address,uint256,uint256) is declared twice")]
