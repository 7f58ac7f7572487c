"""tokens/chains/evm/generations: names, metadata and contexts as arbitrary bytes, which must not fail in PostgreSQL."""

import json
import subprocess
import sys

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from config.api.rendering import render_json
from config.environment.variables import BASE_DIR
from tests.nodes.launch_builder import TOKEN, v1_launch, v4_launch, v31_launch
from tests.nodes.recordings import base
from tokens.catalogue.records import read_records
from tokens.indexing.launch_rows import token_columns
from tokens.models import Token

pytestmark = pytest.mark.django_db


def stored(mined_transaction):
    """Return the record for the transaction's only launch after a round trip through the database."""
    (launch,) = mined_transaction.decode()
    columns = token_columns(launch, chain=base(), presets=())
    Token.objects.all().delete()
    Token.objects.create(**columns, last_indexed=timezone.now())
    return json.loads(render_json(read_records(Token.objects.all())[0]))


def with_context(context):
    return stored(v4_launch(context=context))["social_context"]


def with_metadata(metadata):
    return stored(v4_launch(metadata=metadata))["metadata"]


EMPTY_METADATA = {"auditUrls": [], "description": None, "socialMediaUrls": []}
EMPTY_CONTEXT = {"interface": None, "platform": None, "messageId": None, "id": None}

NAMES = [
    (b"", ""),
    (b"\0", ""),
    (b"NUL\0 inside", "NUL inside"),
    (b"\xff\xfe", "\ufffd\ufffd"),
    (b"cut \xf0\x9f\x98", "cut \ufffd"),
    ("lone \ud83d".encode("utf-8", "surrogatepass"), "lone \ufffd\ufffd\ufffd"),
    ("\U0001f680 \"quoted\" 'and' \\ back\nlines\t".encode(), "\U0001f680 \"quoted\" 'and' \\ back\nlines\t"),
    ("\u202eright to left".encode(), "\u202eright to left"),
    (b"%s {0} ${x} <script>", "%s {0} ${x} <script>"),
    (b"\xef\xbb\xbfbom", "\ufeffbom"),
    (b"x" * 100_000, "x" * 10_000),
]


@pytest.mark.parametrize(("raw", "text"), NAMES, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize("build", [v1_launch, v31_launch, v4_launch])
def test_a_name_becomes_text(build, raw, text):
    record = stored(build(name=raw, symbol=raw))
    assert (record["name"], record["symbol"]) == (text, text)


def test_a_cast_hash_and_an_image_become_text():
    record = stored(v1_launch(cast_hash=b"\xff\0", image=b"ipfs://\xff\0"))
    assert (record["cast_hash"], record["img_url"]) == ("\ufffd", "ipfs://\ufffd")


NO_JSON = [
    "not JSON",
    "{",
    '{"a": NaN}',
    '{"a": -Infinity}',
    "[" * 100_000,
    '{"a":' * 100_000,
    "[1, 2]",
    "17",
    '"text"',
    "true",
    "9" * 5_000,
    '{"a": "' + "x" * 60_000 + '"}',
    '{"description": "half',
]


@pytest.mark.parametrize("text", NO_JSON, ids=lambda text: text[:20])
def test_metadata_that_are_no_json_object_are_the_description(text):
    assert with_metadata(text) == EMPTY_METADATA | {"description": text[:10_000]}
    assert with_context(text) == EMPTY_CONTEXT


def test_empty_metadata_have_no_fields():
    assert with_metadata("") == EMPTY_METADATA
    assert with_metadata("{}") == EMPTY_METADATA
    assert with_context("") == EMPTY_CONTEXT


def test_escapes_that_no_database_takes_are_cleaned():
    assert with_metadata(r'{"description": "a\u0000b\ud800c"}')["description"] == "ab\ufffdc"
    context = with_context(r'{"interface": "x\u0000\udfff", "k\u0000\ud800": ["\u0000", {"\ud800": "\udc00"}]}')
    assert context == EMPTY_CONTEXT | {"interface": "x\ufffd", "k\ufffd": ["", {"\ufffd": "\ufffd"}]}


def test_a_pair_of_surrogate_escapes_is_one_character():
    assert with_metadata(r'{"description": "\ud83d\ude80"}')["description"] == "\U0001f680"


def test_numbers_that_clients_do_not_read_exactly_are_texts():
    context = with_context(json.dumps({"big": 2**53, "small": -(2**300), "fine": 2**53 - 1, "half": 0.5}))
    assert context == EMPTY_CONTEXT | {"big": str(2**53), "small": str(-(2**300)), "fine": 2**53 - 1, "half": 0.5}
    # The database gives these back as whole numbers.
    assert with_context('{"float": 1e20, "large": -1e300}') == EMPTY_CONTEXT | {"float": "1e+20", "large": "-1e+300"}
    assert with_context('{"endless": 1e999, "minus": -1e999}') == EMPTY_CONTEXT | {"endless": None, "minus": None}
    assert with_context('{"id": ' + "7" * 4_000 + "}")["id"] == "7" * 4_000


@pytest.mark.parametrize("depth", [25, 400, 900])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_cut(depth, start, end):
    context = with_context('{"platform": "x", "deep": ' + start * depth + "1" + end * depth + "}")
    assert context["platform"] == "x"
    assert json.dumps(context["deep"]).count("null") == 1
    assert len(json.dumps(context)) < 500


@pytest.mark.parametrize("depth", [1_100, 8_000, 100_000])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_nesting_beyond_all_measure_is_no_json(depth, start, end):
    nested = '{"platform": "x", "deep": ' + start * depth + "1" + end * depth + "}"
    assert with_context(nested) == EMPTY_CONTEXT
    assert with_metadata(nested)["description"] == nested[:10_000]


def test_deep_nesting_does_not_kill_a_process_without_a_recursion_limit():
    # A web3 dependency and eth_account raises the limit to this when it is imported, and threads have small stacks.
    script = (
        "import sys, threading\n"
        "from tokens.indexing.metadata import parse_context, parse_metadata\n"
        "sys.setrecursionlimit(100_000)\n"
        "threading.stack_size(512 * 1024)\n"
        "def read():\n"
        "    for text in ('[' * 49_000, '{\"a\":' * 9_000, '{\"a\":' + '[' * 49_000, '[' * 10**6):\n"
        "        parse_context(text), parse_metadata(text)\n"
        "thread = threading.Thread(target=read)\n"
        "thread.start(), thread.join()\n"
    )
    finished = subprocess.run([sys.executable, "-c", script], cwd=BASE_DIR, capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (0, "")


WRONG_KINDS = [None, True, 7, 1.5, [], {}, "text", [[]], [None], [{}], [7], {"url": "x"}]


@pytest.mark.parametrize("value", WRONG_KINDS, ids=str)
def test_metadata_of_any_kind_have_the_records_form(value):
    metadata = with_metadata(json.dumps({"description": value, "auditUrls": value, "socialMediaUrls": value}))
    assert set(metadata) == set(EMPTY_METADATA)
    assert metadata["description"] is None or isinstance(metadata["description"], str)
    assert all(isinstance(url, str) for url in metadata["auditUrls"])
    assert all(set(link) == {"platform", "url"} for link in metadata["socialMediaUrls"])


@pytest.mark.parametrize("value", WRONG_KINDS, ids=str)
def test_a_context_of_any_kind_has_texts_under_the_known_keys(value):
    context = with_context(json.dumps(dict.fromkeys(EMPTY_CONTEXT, value) | {"more": value}))
    assert all(context[key] is None or isinstance(context[key], str) for key in EMPTY_CONTEXT)
    assert context["more"] == value


FIDS = [
    ("12345", 12345),
    (12345, 12345),
    ("0", None),
    ("-5", None),
    ("1e3", None),
    ("٣", None),
    ("9223372036854775807", 2**63 - 1),
    ("9223372036854775808", None),
    ("9" * 400, None),
    (True, None),
]


@pytest.mark.parametrize(("identity", "fid"), FIDS, ids=str)
def test_a_farcaster_identity_is_a_fid_where_it_is_one(identity, fid):
    record = stored(v4_launch(context=json.dumps({"platform": "Farcaster", "id": identity})))
    assert record["requestor_fid"] == fid
    assert stored(v4_launch(context=json.dumps({"platform": "x", "id": identity})))["requestor_fid"] is None


# Bytes as they come, texts with everything, and JSON with everything in it.
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)
KNOWN_KEYS = st.sampled_from(
    ["description", "auditUrls", "socialMediaUrls", "platform", "url", "id", "interface", "messageId"]
)
OBJECTS = st.dictionaries(KNOWN_KEYS | st.text(st.characters()), JSON_VALUES, max_size=6)
LAUNCHER_TEXTS = (
    st.binary(max_size=200)
    | st.text(st.characters()).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | OBJECTS.map(lambda value: json.dumps(value).encode())
    | OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
)


@settings(max_examples=150)
@given(
    name=LAUNCHER_TEXTS, symbol=LAUNCHER_TEXTS, image=LAUNCHER_TEXTS, metadata=LAUNCHER_TEXTS, context=LAUNCHER_TEXTS
)
def test_whatever_launchers_write_is_stored_and_answered(db, name, symbol, image, metadata, context):
    record = stored(v4_launch(name=name, symbol=symbol, image=image, metadata=metadata, context=context))
    assert record["contract_address"] == TOKEN
    assert set(record["metadata"]) == set(EMPTY_METADATA)
    assert set(record["social_context"]) >= set(EMPTY_CONTEXT)


@pytest.mark.parametrize("length", [3_000, 100_000])
def test_a_long_name_can_be_recognised_as_a_copy(length):
    # Different characters, so that nothing is compressed.
    name = "".join(chr(0x4E00 + index * 7919 % 20_000) for index in range(length))
    stored(v4_launch(name=name))
    assert Token.objects.update(verified=True) == 1
