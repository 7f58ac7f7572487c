"""Tests of tokens/market/provider_responses.py and quotes.py: validation of the provider's responses."""

import math
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.http.errors import RetryableError
from development.standins import market_server as sample
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIODS
from tokens.market.provider_responses import (
    AMOUNT,
    COUNT,
    MAX_NAME_LENGTH,
    PERCENT,
    PRICE,
    UnexpectedShapeError,
    parse_number,
    parse_pools,
)
from tokens.market.quotes import Quote, quote_from_pool
from tokens.models.market import QUOTE_COLUMNS

POOL, TOKEN, WETH = "0x" + "a1" * 32, "0x" + "b2" * 20, sample.WRAPPED_NATIVE
NOW = 1_760_000_000.0
SUPPLY = 10.0**11


def pool(**attributes):
    """Return a documented pool with other attributes; objects among them are replaced as a whole."""
    found = sample.pool("base", POOL, NOW, tokens=(TOKEN, WETH))
    found["attributes"].update(attributes)
    return found


def read_one(entry):
    return parse_pools({"data": [entry]})[0]


def quote(token=TOKEN, supply=SUPPLY, **attributes):
    return quote_from_pool(read_one(pool(**attributes)), token=token, supply=supply)


# Refusals.


@pytest.mark.parametrize("answer", [None, [], 7, "x", {}, {"data": {}}, {"data": None}, {"errors": []}])
def test_it_refuses_an_answer_of_another_shape(answer):
    with pytest.raises(UnexpectedShapeError) as refused:
        parse_pools(answer)
        # The provider failed; the next response may be right.
        assert isinstance(refused.value, RetryableError)


@pytest.mark.parametrize(
    "entry", [None, 7, [], {}, {"attributes": []}, {"attributes": {}}, {"attributes": {"address": "0x12"}}]
)
def test_it_leaves_out_what_has_no_address_and_keeps_its_neighbours(entry):
    assert [found.address for found in parse_pools({"data": [entry, pool()]})] == [POOL]


@pytest.mark.parametrize(
    "nonsense",
    [
        None, True, [], {}, "", "abc", "NaN", "inf", "-Infinity", "1e30", 1e30, "-1", -1, "0", "0.0", "1e999", "1e-300",
        "0x10", "1,5", " 1", "1 ", "1\n", "\uff11", "\u0661", "1_0", "9" * 70, math.nan, math.inf, 10**400,
    ],
)  # fmt: skip
def test_a_price_that_makes_no_sense_refuses_the_whole_pool(nonsense):
    assert quote(base_token_price_usd=nonsense) is None
    assert read_one(pool(base_token_price_usd=nonsense)).base_token_price_usd is None


@pytest.mark.parametrize("nonsense", [None, True, [], {}, "abc", "1e30", "-1", 10**15, "NaN"])
def test_other_nonsense_is_unknown_and_spoils_nothing_else(nonsense):
    found = quote(
        quote_token_price_usd=nonsense,
        reserve_in_usd=nonsense,
        volume_usd={"h24": nonsense},
        fdv_usd=nonsense,
        market_cap_usd="5000",
    )
    assert (found.quote_price_usd, found.liquidity_usd, found.volume_24h) == (None, None, None)
    assert (found.price_usd > 0, found.market_cap) == (True, 5000.0)
    for whole in (None, 7, [], "x"):
        empty = quote(volume_usd=whole, transactions=whole, price_change_percentage=whole)
        assert (empty.volume_24h, empty.tx_count_24h, empty.price_change_24h) == (None, None, None)


@pytest.mark.parametrize("buys", [None, "x", -1, 1.5, "1.5", 10**9, True])
def test_trades_that_make_no_sense_are_unknown(buys):
    assert quote(transactions={"h24": {"buys": buys, "sells": 3}}).tx_count_24h is None


@pytest.mark.parametrize("percent", ["-100.01", "1e9", "1e400", None, "abc"])
def test_a_price_change_that_makes_no_sense_is_unknown(percent):
    assert quote(price_change_percentage={"h24": percent, "h1": "5"}).price_change_24h is None
    assert quote(price_change_percentage={"h24": percent, "h1": "5"}).price_change_1h == 5.0


def test_a_token_that_is_not_in_the_pool_gets_nothing_from_it():
    assert quote(token="0x" + "c3" * 20) is None
    pool_id = {"base_token": {"data": {"id": "base_0x" + "ab" * 32}}}
    nothing = (None, {}, {"base_token": None}, {"base_token": {"data": []}}, {"base_token": {"data": {}}})
    for relationships in (*nothing, pool_id):
        entry = {**pool(), "relationships": relationships}
        assert quote_from_pool(read_one(entry), token=TOKEN, supply=SUPPLY) is None


# Stored values.


@pytest.mark.parametrize(
    ("given", "read"), [(5, "5"), (5.5, "5.5"), ("5.50", "5.50"), ("1e-7", "1e-7"), (1e-7, "1e-07")]
)
def test_numbers_come_as_texts_or_as_numbers(given, read):
    assert read_one(pool(base_token_price_usd=given)).base_token_price_usd == read


def test_the_documented_answer_is_read_in_full():
    found = read_one(pool())
    assert (found.address, found.base_token, found.quote_token) == (POOL, TOKEN, WETH)
    assert found.pool_created_at.endswith(".000Z")
    assert None not in found.price_change_percentage.values()
    assert set(found.price_change_percentage) == set(CHANGE_PERIODS)
    assert set(found.volume_usd) == set(found.transactions) == set(PERIODS)
    known = quote()
    assert None not in vars(known).values()
    assert known.tx_count_24h == sum(pool()["attributes"]["transactions"]["h24"][name] for name in ("buys", "sells"))


@pytest.mark.parametrize("unsaid", [None, "0.0", "0"])
def test_the_market_cap_is_that_of_all_tokens_where_the_provider_has_no_other(unsaid):
    assert quote(market_cap_usd="7", fdv_usd="9").market_cap == 7.0
    assert quote(market_cap_usd=unsaid, fdv_usd="9").market_cap == 9.0
    assert quote(market_cap_usd=unsaid, fdv_usd=unsaid, base_token_price_usd="0.001").market_cap == 10**8
    assert quote(market_cap_usd=unsaid, fdv_usd=unsaid, supply=None).market_cap is None
    # All the money there is.
    assert quote(market_cap_usd=unsaid, fdv_usd=unsaid, base_token_price_usd="99999").market_cap is None


def test_a_token_that_others_are_priced_in_gets_its_own_price_and_no_changes_of_theirs():
    found = quote(token=WETH, supply=1.0, base_token_price_usd="0.5", quote_token_price_usd="3000", fdv_usd="77")
    assert (found.price_usd, found.quote_price_usd, found.market_cap) == (3000.0, 0.5, 3000.0)
    assert (found.price_change_1h, found.price_change_6h, found.price_change_24h) == (None, None, None)
    assert found.volume_24h is not None
    assert quote(token=WETH, quote_token_price_usd="1e30") is None


def test_names_keep_what_can_be_seen():
    found = read_one(pool(name="A\0B\n\x1b[31m 犬 \u202e/ WETH" + "x" * 1000))
    assert found.name.startswith("AB[31m 犬 / WETH")
    assert len(found.name) == MAX_NAME_LENGTH
    assert read_one(pool(name=None)).name == read_one(pool(name=7)).name == ""


@pytest.mark.parametrize("when", [None, 7, "", "yesterday", "0001-01-01T00:00:00+23:59", "9999-99-99"])
def test_a_time_that_makes_no_sense_is_unknown(when):
    assert read_one(pool(pool_created_at=when)).pool_created_at is None


def test_a_time_without_zone_is_utc():
    assert read_one(pool(pool_created_at="2026-02-03T04:05:06")).pool_created_at == "2026-02-03T04:05:06.000Z"
    assert read_one(pool(pool_created_at="2026-02-03T04:05:06+02:00")).pool_created_at == "2026-02-03T02:05:06.000Z"


def test_a_pool_is_there_once_and_of_the_network_that_is_meant():
    pools = [pool(), pool(), {**pool(address="0x" + "d4" * 20), "id": "eth_0xd4"}]
    assert [found.address for found in parse_pools({"data": pools}, network="base")] == [POOL]
    assert len(parse_pools({"data": pools})) == 2


# Properties.

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.from_regex(r"\A-?[0-9]{0,40}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,4})?\Z")
    | st.sampled_from(["1e30", "NaN", "inf", "-inf", "0.0", "1e-320", POOL, TOKEN, f"base_{TOKEN}", f"base_{WETH}"])
)
anything = st.recursive(
    scalars, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3)
)
by_period = st.dictionaries(st.sampled_from(PERIODS), scalars) | anything
relation = st.builds(lambda found: {"data": {"id": found}}, scalars) | anything
pools = st.fixed_dictionaries(
    {
        "attributes": st.fixed_dictionaries(
            {
                "address": st.just(POOL) | scalars,
                "name": scalars,
                "base_token_price_usd": scalars,
                "quote_token_price_usd": scalars,
                "fdv_usd": scalars,
                "market_cap_usd": scalars,
                "reserve_in_usd": scalars,
                "pool_created_at": scalars,
                "volume_usd": by_period,
                "price_change_percentage": by_period,
                "transactions": st.dictionaries(
                    st.sampled_from(PERIODS), st.dictionaries(st.sampled_from(["buys", "sells"]), scalars)
                )
                | anything,
            }
        ),
        "relationships": st.fixed_dictionaries(
            {"base_token": st.just({"data": {"id": f"base_{TOKEN}"}}) | relation, "quote_token": relation}
        ),
    }
)
WITHIN = {
    "price_usd": PRICE, "quote_price_usd": PRICE, "market_cap": AMOUNT, "volume_24h": AMOUNT, "liquidity_usd": AMOUNT,
    "price_change_1h": PERCENT, "price_change_6h": PERCENT, "price_change_24h": PERCENT,
}  # fmt: skip


def assert_sane(known: Quote) -> None:
    for name, bounds in WITHIN.items():
        value = getattr(known, name)
        assert value is None or (math.isfinite(value) and bounds.lowest <= value < bounds.highest), name
    assert known.tx_count_24h is None or 0 <= known.tx_count_24h < 2 * COUNT.highest


@given(answer=anything)
def test_no_answer_breaks_the_reading(answer):
    with suppress(UnexpectedShapeError):
        assert isinstance(parse_pools(answer), tuple)


@given(entries=st.lists(pools | anything, max_size=4), supply=st.none() | st.floats(0, 2.0**256))
def test_nothing_out_of_bounds_comes_of_any_pool(entries, supply):
    for found in parse_pools({"data": entries}):
        assert "\0" not in found.name
        for token in (TOKEN, WETH):
            if known := quote_from_pool(found, token=token, supply=supply):
                assert_sane(known)


@given(value=scalars)
def test_what_is_taken_for_a_number_is_one_within_bounds(value):
    for bounds in (PRICE, AMOUNT, PERCENT, COUNT):
        digits = parse_number(value, bounds)
        assert digits is None or bounds.lowest <= float(digits) < bounds.highest


def test_a_quote_has_the_market_columns_that_are_reset_with_the_pool():
    assert tuple(field.name for field in fields(Quote)) == QUOTE_COLUMNS
