"""Mistakes that decode without an error, on a recorded curve: `try_launchpad` names them, and nothing that is right."""

import re

import pytest
from django.core.management import CommandError

from tests.nodes.recorded_launchpad import RecordedLaunchpad

MINT = "Mint(uint256 reserve0, uint256 reserve1)"
STRANGER = "0x9999999999999999999999999999999999999999"
CHANGE = '[[launchpads.virtuals.change]]\nevent = "Graduated(address indexed token, address agentToken)"\n'
POOL_IN_AGENT_TOKEN = ('pool = "v2"', 'pool = "v2"\nto = "agentToken"')


@pytest.fixture
def pad(serve_launchpad) -> RecordedLaunchpad:
    return serve_launchpad("virtuals-launch_1_graduates")


@pytest.fixture
def try_changed(pad, try_file):
    """Return a function that tries the recorded launch, its trades and its graduation by a changed declaration."""

    def tried(*changes):
        text = pad.declaration()
        for given, changed in changes:
            assert given in text
            text = text.replace(given, changed)
        expected = pad.recording["expected"]
        hashes = (expected["trades"][0]["tx_hash"], expected["graduation"]["tx_hash"])
        return try_file(text, "--tx", pad.tx_hash, *(part for tx_hash in hashes for part in ("--trade", tx_hash)))

    return tried


def mistakes_of(output):
    return [line.removeprefix("  ") for line in output.partition("\ncheck\n")[2].splitlines()]


def swapped(one, other):
    return (f'"{one}"', '"x"'), (f'"{other}"', f'"{one}"'), ('"x"', f'"{other}"')


@pytest.mark.parametrize(("one", "other"), [("amount0In", "amount0Out"), ("amount1In", "amount1Out")])
def test_a_trade_that_exchanges_nothing_names_its_amounts(one, other, pad, try_changed):
    trade = pad.recording["expected"]["trades"][0]["tx_hash"]
    (mistake,) = [line for line in mistakes_of(try_changed(*swapped(one, other))) if line.startswith(trade)]
    assert re.search(r"log \d+, Swap: no trade: it exchanges nothing: `token_in` is \d+, `token_out` is \d+,", mistake)


def test_one_argument_for_two_amounts_is_refused(try_changed):
    with pytest.raises(CommandError, match=r"trade\[0\]\.quote_out: expected another argument than quote_in has"):
        try_changed(('quote_out = "amount1Out"', 'quote_out = "amount1In"'))


def test_the_price_of_a_launch_is_shown_with_its_places(pad, try_changed):
    price = re.search(r"^  price +(\S+)  \((.*)\)$", try_changed(), re.M)
    sold, paid = map(int, pad.recording["expected"]["reserves_after_prelaunch"][:2])
    assert float(price[1]) == pytest.approx(paid / sold, rel=1e-4)
    curve = re.escape(pad.recording["expected"]["bonding_pair"])
    places = [rf"reserve{index} of Mint\(uint256,uint256\) by {curve} \d+" for index in (1, 0)]
    assert re.fullmatch(" / ".join(places), price[2])
    declared = re.search(r"price = .*", pad.declaration())[0]
    wrong = try_changed((declared, 'price = { value = "initialPurchase", decimals = 23 }'))
    shown = re.search(r"^  price +(\S+)  \(argument initialPurchase \d+ / the declaration 10{23}\)$", wrong, re.M)
    assert float(shown[1]) == pytest.approx(0.005, rel=1e-4)
    assert "  price          missing  (not declared)\n" in try_changed((declared, ""))


def test_the_token_as_its_own_quote_or_later_pool_is_refused(pad, try_changed):
    quote = re.search(r"^quote = .*", pad.declaration(), re.M)[0]
    with pytest.raises(CommandError, match=r"launch\[0\]\.quote: is the launched token"):
        try_changed((quote, 'quote = "token"'))
    with pytest.raises(CommandError, match=r"change\[0\]\.to: is the token"):
        try_changed(('pool = "v2"', 'pool = "v2"\nto = "token"'))


def test_another_quote_than_the_token_that_moves_is_named(pad, try_changed):
    quote = re.search(r"^quote = .*", pad.declaration(), re.M)[0]
    mistakes = mistakes_of(try_changed((quote, 'quote = "native"')))
    assert mistakes and all(line.endswith(f" moves in {pad.contract('quote_VIRTUAL')}") for line in mistakes)
    # A contract without views.
    mistakes = mistakes_of(try_changed((quote, f'quote = "{STRANGER}"')))
    assert any("Swap: no trade: the quote token's decimals are unknown" in line for line in mistakes)


def test_a_later_pool_that_is_the_token_is_named(pad, try_changed):
    token = pad.recording["expected"]["token"]
    (mistake,) = mistakes_of(try_changed(POOL_IN_AGENT_TOKEN))
    assert mistake.endswith(f"the later pool is {token}, the token itself: `to` names another argument than the pool")


@pytest.mark.parametrize(
    ("by", "whose"), [(f'{{ 31337 = ["{STRANGER}"] }}', f"`by`: {STRANGER}"), ('"hook"', "the pool's hook: none")]
)
def test_a_change_by_another_emitter_is_named(by, whose, pad, try_changed):
    change = (CHANGE, f"{CHANGE}by = {by}\n")
    named = [line for line in mistakes_of(try_changed(change)) if "Graduated is emitted by" in line]
    assert len(named) == 1 and named[0].endswith(f"and counts by {whose}")


def test_the_pool_of_a_graduation_is_shown(pad, try_changed):
    assert mistakes_of(try_changed()) == []
    assert f"change: pool changed {pad.recording['expected']['graduation']['new_pair']!r}" in try_changed()


def test_a_log_with_a_value_is_named_by_its_declaration(try_changed):
    assert "Mint(uint256,uint256)" not in try_changed().partition("\nlogs of its contracts")[2]


def test_wrong_indexed_arguments_of_a_log_with_a_value_are_named(pad, try_file, capsys):
    text = pad.declaration().replace(MINT, MINT.replace("uint256 reserve0", "uint256 indexed reserve0"), 1)
    with pytest.raises(CommandError, match="no launch would be stored"):
        try_file(text, "--tx", pad.tx_hash)
    wrong, lost = mistakes_of(capsys.readouterr().out)
    assert wrong.startswith("Mint(uint256,uint256): log ")
    assert "has 0 indexed arguments" in wrong and wrong.endswith("marks 1: correct `indexed`")
    assert lost.startswith("the transaction can't be decoded, and none of its launches is stored: ")


def test_errors_name_the_transaction(pad, try_file):
    unknown = "0x" + "ab" * 32
    with pytest.raises(CommandError, match=f"--trade {unknown}: chain 31337 has no such transaction"):
        try_file(pad.declaration(), "--tx", pad.tx_hash, "--trade", unknown)
    with pytest.raises(CommandError, match="--trade 0x12: "):
        try_file(pad.declaration(), "--tx", pad.tx_hash, "--trade", "0x12")
    with pytest.raises(CommandError, match="--trade goes with --tx"):
        try_file(pad.declaration(), "--range", "0:1", "--trade", unknown)
