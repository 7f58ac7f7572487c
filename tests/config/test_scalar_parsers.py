"""Scalars are the same in the API, settings, registry files, public pages and the stream."""

import pytest

from config.api.fields import FlagField, WholeNumberField
from config.environment import kinds
from config.events.stream.stream_query import parse_chain_id
from config.parsing import json_rules
from config.site.page_input import parse_page_number
from tokens.chains.registry import entry_rules

TEXT_PARSERS = (
    WholeNumberField(min_value=1, max_value=2**63 - 1).run_validation,
    kinds.whole_number(1, 2**63 - 1),
    lambda text: parse_page_number({"field": text}, "field", 2**63 - 1),
    parse_chain_id,
)
NUMBER_PARSERS = (
    WholeNumberField(min_value=1, max_value=20).run_validation,
    json_rules.integer(least=1, most=20),
    entry_rules.POSITION["bps"],
)
FLAG_PARSERS = (
    json_rules.boolean,
    json_rules.flag,
    FlagField().run_validation,
    entry_rules.REFERENCE_POOL_OPTIONAL["native"],
)


@pytest.mark.parametrize("parse", TEXT_PARSERS)
def test_whole_numbers_are_written_in_ascii_digits(parse):
    assert (parse("20"), parse("007"), parse(str(2**63 - 1))) == (20, 7, 2**63 - 1)
    for text in ("\u0663", "1_0", "1.0", " 1", "1 ", "--1", "-1", "1e3", "0x1", "x", str(2**63), "9" * 5_000):
        with pytest.raises(Exception, match="whole number"):
            parse(text)


@pytest.mark.parametrize("parse", NUMBER_PARSERS)
def test_whole_numbers_of_json_and_toml_have_no_fraction_and_are_no_booleans(parse):
    assert parse(20) == 20
    for value in (True, 1.5, None, [], -1):
        with pytest.raises(Exception, match="whole number from 1 to|null"):
            parse(value)


@pytest.mark.parametrize("parse", FLAG_PARSERS)
def test_flags_are_true_or_false(parse):
    assert parse(True) is True and parse(False) is False
    for value in (2, "yes", []):
        with pytest.raises(Exception, match="true"):
            parse(value)


@pytest.mark.parametrize(
    "url", ["ftp://a.example", "https://", "https://a.example/ b", "https://a.example/\u202e", 'https://a"']
)
def test_urls_of_bodies_and_of_the_registry_are_safe_to_show(url):
    for parse in (json_rules.web_address("https", "http"), entry_rules.CHAIN_OPTIONAL["explorer"]):
        with pytest.raises(ValueError, match="(begins|starts) with https://"):
            parse(url)
