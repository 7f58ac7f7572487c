"""Tests of tokens/indexing/metadata.py: launchers' metadata and context, any text, made safe for every response."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from config.api.rendering import render_json
from tokens.indexing.metadata import (
    MAX_DEPTH,
    MAX_JSON_TEXT,
    MAX_LINKS,
    MAX_TEXT,
    copy_key,
    farcaster_fid,
    find_link,
    parse_context,
    parse_metadata,
    social_links,
    web_link,
    with_web_links,
)

NOTHING = {"interface": None, "platform": None, "messageId": None, "id": None}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "null",
        "[]",
        "5",
        '"text"',
        "{",
        '{"a": NaN}',
        '{"a": ' + "9" * 5_000 + "}",
        "[" * 100_000,
        '{"id": "' + "x" * MAX_JSON_TEXT + '"}',
    ],
)
def test_a_context_that_is_no_plain_object_is_ignored(text):
    assert parse_context(text) == NOTHING


def test_a_context_keeps_unknown_keys_and_reads_known_ones_as_text():
    context = parse_context(
        '{"interface": "web", "id": 12, "messageId": {}, "platform": true, "other": [1, {"a": 2.5}]}'
    )
    assert context == {"interface": "web", "id": "12", "messageId": None, "platform": None, "other": [1, {"a": 2.5}]}


def test_a_context_loses_what_no_answer_can_carry():
    text = r'{"a\u0000": "b\u0000\ud800", "n": 9007199254740992, "m": [-9223372036854775809], "f": 1e999, "e": 1e20}'
    found = {"a": "b\ufffd", "n": "9007199254740992", "m": ["-9223372036854775809"], "f": None, "e": "1e+20"}
    assert parse_context(text) == NOTHING | found


# Texts on both sides of the fast parser's limits.
plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["1e3", "\0", "\ud800"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=4), parts, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), plain_json, max_size=4), st.booleans())
def test_a_context_reads_the_same_by_either_parser(value, is_escaped):
    text = json.dumps(value, ensure_ascii=is_escaped)
    # An escape anywhere, here in a key of no meaning, leaves a text to the careful parser.
    careful = text[:-1] + (", " if value else "") + r'"odd\u0020key": 0}'
    found = parse_context(careful)
    found.pop("odd key", None)
    assert parse_context(text) == found


def test_a_context_is_cut_where_it_is_nested_too_deep():
    context = parse_context('{"a":' * 300 + "1" + "}" * 300)
    assert render_json(context).count(b'{"a":') == MAX_DEPTH


@pytest.mark.parametrize(
    ("platform", "identity", "fid"),
    [
        ("farcaster", "12", 12),
        ("Farcaster", "12", 12),
        ("farcaster", "0", None),
        ("farcaster", "-1", None),
        ("farcaster", "1.0", None),
        ("farcaster", "１２", None),
        ("farcaster", "9223372036854775807", 2**63 - 1),
        ("farcaster", "9223372036854775808", None),
        ("x", "12", None),
    ],
)
def test_the_requestor_is_a_farcaster_number(platform, identity, fid):
    assert farcaster_fid(parse_context(json.dumps({"platform": platform, "id": identity}))) == fid


def test_metadata_that_is_no_object_is_the_description():
    expected = {"auditUrls": [], "description": "plain words", "socialMediaUrls": []}
    assert parse_metadata("plain words") == expected
    assert parse_metadata("x" * (MAX_TEXT + 1))["description"] == "x" * MAX_TEXT


def test_metadata_takes_links_as_objects_and_as_bare_addresses():
    links = [
        {"platform": "X", "url": "https://x.com/a"},
        "https://a.example",
        {"url": ""},
        {"platform": "x"},
        5,
        None,
        [],
    ]
    metadata = parse_metadata(json.dumps({"socialMediaUrls": links, "auditUrls": ["a", 1, None, {}]}))
    assert metadata["auditUrls"] == ["a", "1"]
    assert social_links(metadata) == [
        {"name": "X", "link": "https://x.com/a"},
        {"name": "website", "link": "https://a.example"},
    ]
    assert find_link(social_links(metadata), "x", "twitter") == "https://x.com/a"
    assert find_link(social_links(metadata), "telegram") is None


# What a row may hold, whoever wrote it: any JSON, and objects with the known keys.
LINKS = (
    st.lists(plain_json | st.dictionaries(st.sampled_from(["platform", "url"]), plain_json), max_size=4) | plain_json
)
METADATA = plain_json | st.fixed_dictionaries(
    {}, optional={"auditUrls": LINKS, "description": plain_json, "socialMediaUrls": LINKS, "other": plain_json}
)


@given(METADATA)
@example({})
@example(None)
@example({"socialMediaUrls": [{"url": "https://a.example"}]})
def test_stored_metadata_of_any_form_is_shown_with_web_links_only(stored):
    shown = with_web_links(stored)
    assert shown.keys() == {"auditUrls", "description", "socialMediaUrls"}
    assert all(web_link(url) == url for url in shown["auditUrls"])
    assert social_links(stored) == [
        {"name": each["platform"], "link": each["url"]} for each in shown["socialMediaUrls"]
    ]
    assert with_web_links(shown) is shown


@given(METADATA | st.text(max_size=20))
@example("\ud800")
def test_launchers_may_write_any_metadata(value):
    stored = parse_metadata(value if isinstance(value, str) else json.dumps(value))
    assert json.loads(render_json(stored)) == stored
    assert social_links(with_web_links(stored)) == social_links(stored)


def test_metadata_has_a_limit_of_links():
    metadata = parse_metadata(json.dumps({"socialMediaUrls": ["a"] * (MAX_LINKS + 1)}))
    assert len(metadata["socialMediaUrls"]) == MAX_LINKS


@pytest.mark.parametrize("other", [("higher", "UP"), ("HI GHER", "up"), ("Higher\u00a0", " u\tp"), ("Ｈigher", "ＵＰ")])
def test_names_that_look_alike_have_one_copy_key(other):
    assert copy_key("Higher", "UP") == copy_key(*other)


@pytest.mark.parametrize("other", [("Highe", "RUP"), ("UP", "Higher"), ("Higher", ""), ("", "HigherUP")])
def test_names_that_differ_have_different_copy_keys(other):
    assert copy_key("Higher", "UP") != copy_key(*other)


def test_of_thousands_of_marks_in_a_name_the_first_thirty_make_its_copy_key():
    """Check many marks: sorting all of them takes quadratic time."""
    assert copy_key("Higher" + "\u0345\u0300" * 20_000, "UP") == copy_key("Higher" + "\u0345\u0300" * 15, "UP")


# Texts that launchers may write as a link, and that no client may be given as one.
NO_LINKS = [
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "java\nscript:x",
    "\x01javascript:x",
    "data:text/html,x",
    "blob:https://a.example/1",
    "vbscript:x",
    "//a.example/x",
    "/\\a.example",
    "https:\\\\a.example",
    "https:/a.example",
    "https://",
    "https://user:password@a.example/",
    "https://a.example@b.example/",
    "https://a.ex\tample/",
    "https://a.example/\u202egpj",
    "https://a.example/a b",
    'https://a.example/"onclick="x',
    "ftp://a.example/",
    "ar://abc",
    "x.com/fine",
    "Qm" + "a" * 44,
    "https://[",
    "",
    "\u3164https://a.example/",
]


@pytest.mark.parametrize("url", NO_LINKS)
def test_what_is_no_address_of_the_web_or_of_ipfs_is_no_link(url):
    assert web_link(url) is None
    links = [{"platform": "x", "url": url}, {"platform": "x", "url": "https://x.com/fine"}]
    metadata = parse_metadata(json.dumps({"socialMediaUrls": links, "auditUrls": [url, "ipfs://a"]}))
    assert social_links(metadata) == [{"name": "x", "link": "https://x.com/fine"}]
    assert find_link(social_links(metadata), "x") == "https://x.com/fine"
    assert with_web_links(metadata) == {
        "auditUrls": ["ipfs://a"],
        "description": None,
        "socialMediaUrls": [{"platform": "x", "url": "https://x.com/fine"}],
    }


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example",
        "HTTP://A.example:8080/x?y=@z#f",
        "ipfs://bafy/1.png",
        "https://[2001:db8::1]:443/",
        "https://münze.example/ä",
        "https://a.example/it's",
    ],
)
@pytest.mark.parametrize("around", ["", " ", "\u00a0\x00\x1f", "\u200b\ufeff", "\u2066"])
def test_blanks_and_invisible_characters_around_a_link_go(url, around):
    assert web_link(around + url + around) == url


def test_metadata_with_web_links_only_is_not_copied():
    metadata = parse_metadata(json.dumps({"socialMediaUrls": ["https://a.example"], "auditUrls": ["http://b.example"]}))
    assert with_web_links(metadata) is metadata


def test_long_texts_cost_linear_time():
    assert web_link("\u200b" * 100_000 + "https://a.example") == "https://a.example"
    assert web_link("https://" + "a:" * 100_000) is None
