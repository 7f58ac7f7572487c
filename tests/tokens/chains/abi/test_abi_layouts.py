"""tokens/chains/abi/layouts.py: fixed-layout decoders accept and reject the same data as eth-abi."""

import json
import sys

import eth_abi
import pytest
from eth_abi.exceptions import DecodingError
from eth_utils.abi import collapse_if_tuple
from eth_utils.address import to_checksum_address
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tokens.chains.abi.test_abi_codec import ABIS, NAMES
from tokens.chains.abi.layouts import MalformedDataError, compile_layout
from tokens.chains.addresses import checksum_address

MADE_UP = {
    "every size of number": [f"{kind}{bits}" for kind in ("uint", "int") for bits in range(8, 257, 8)],
    "every size of bytes": [f"bytes{size}" for size in range(1, 33)],
    "truth": ["bool", "bool[]", "bytes"],
    "lists of what is fixed": ["address[]", "bytes4[]", "int128[]", "string", "uint64[]"],
    "one text": ["string"],
}


def layouts():
    """Return name -> fields: the ABIs' event values, indexed or not, each layout once, and some unused layouts."""
    found = {}
    for name in NAMES:
        for item in json.loads((ABIS / f"{name}.json").read_text(encoding="utf-8")):
            if item["type"] == "event":
                for indexed in (True, False):
                    fields = [field for field in item["inputs"] if field["indexed"] is indexed]
                    kind = ",".join(map(collapse_if_tuple, fields))
                    found.setdefault(kind, (f"{name}.{item['name']}{' indexed' * indexed}", fields))
    known = {label: fields for label, fields in found.values() if fields}
    for label, types in MADE_UP.items():
        known[label] = [{"type": kind, "name": f"n{place}"} for place, kind in enumerate(types)]
    pair = [{"type": "uint24", "name": "low"}, {"type": "address", "name": "who"}]
    inner = {"type": "tuple", "name": "inner", "components": pair}
    known["structs"] = [
        {"type": "tuple[]", "name": "list", "components": pair},
        {"type": "tuple", "name": "outer", "components": [inner, {"type": "int8", "name": "sign"}]},
        {"type": "string", "name": "text"},
    ]
    texts = [{"type": "string", "name": "text"}, inner, {"type": "bytes4[]", "name": "list"}]
    deeper = {"type": "tuple", "name": "deeper", "components": texts}
    known["structs of texts"] = [
        {"type": "uint8", "name": "number"},
        {"type": "tuple", "name": "outer", "components": [deeper, {"type": "bytes", "name": "data"}]},
        deeper,
    ]
    return known


LAYOUTS = layouts()
MADE = {label: compile_layout(fields) for label, fields in LAYOUTS.items()}
every_layout = pytest.mark.parametrize("label", LAYOUTS)

# Edge cases for offsets: inside and behind the data, and around machine integers' bounds.
WORDS = st.one_of(
    st.integers(0, 80).map(lambda place: 32 * place),
    st.integers(0, 2_000),
    st.sampled_from([2**bits + more for bits in (7, 23, 31, 63, 64, 160, 255) for more in (-33, -32, -31, -1, 0, 1)]),
    st.sampled_from([sys.maxsize + more for more in (-64, -32, -31, -30, -1, 0)]),
    st.integers(2**256 - 2**24, 2**256 - 1),
    st.integers(0, 2**256 - 1),
)


def raw_types(fields):
    """Return the types for eth-abi, with text as bytes."""
    return [collapse_if_tuple(field).replace("string", "bytes") for field in fields]


def valid(field):
    """Return a strategy for values of a type, as eth-abi encodes them."""
    kind = field["type"]
    if kind.endswith("[]"):
        return st.lists(valid({**field, "type": kind[:-2]}), max_size=4)
    if kind == "tuple":
        return st.tuples(*map(valid, field["components"]))
    if kind == "address":
        return st.binary(min_size=20, max_size=20)
    if kind == "bool":
        return st.booleans()
    if kind == "string":
        return st.binary(max_size=70) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass"))
    if kind == "bytes":
        return st.binary(max_size=70)
    if kind.startswith("bytes"):
        return st.binary(min_size=int(kind[5:]), max_size=int(kind[5:]))
    bits = int(kind.removeprefix("u").removeprefix("int"))
    return st.integers(0, 2**bits - 1) if kind.startswith("u") else st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def plain(field, value):
    """Convert eth-abi's value to our decoder's form."""
    kind = field["type"]
    if kind.endswith("[]"):
        return tuple(plain({**field, "type": kind[:-2]}, item) for item in value)
    if kind == "tuple":
        return {part["name"]: plain(part, item) for part, item in zip(field["components"], value, strict=True)}
    if kind == "address":
        return to_checksum_address(value)
    if kind == "string":
        return value.decode("utf-8", errors="replace").replace("\0", "")
    return "0x" + value.hex() if kind.startswith("bytes") else value


def expected(label, data):
    """Return eth-abi's result, None where it rejects the data."""
    fields = LAYOUTS[label]
    try:
        values = eth_abi.decode(raw_types(fields), data, strict=False)
    except (DecodingError, OverflowError, ValueError):
        return None
    return {field["name"]: plain(field, value) for field, value in zip(fields, values, strict=True)}


def ours(label, data):
    try:
        return MADE[label].decode(data)
    except MalformedDataError:
        return None


def encoded(label):
    fields = LAYOUTS[label]
    return st.tuples(*map(valid, fields)).map(lambda values: eth_abi.encode(raw_types(fields), values))


@every_layout
@settings(max_examples=15)
@given(data=st.data())
def test_valid_bytes_have_the_values_that_eth_abi_finds(label, data):
    whole = data.draw(encoded(label)) + data.draw(st.binary(max_size=40))
    found = expected(label, whole)
    assert found is not None
    # True == 1 and 1.0 == 1, but their types differ.
    assert repr(ours(label, whole)) == repr(found)


@every_layout
@settings(max_examples=20)
@given(data=st.data())
def test_damaged_bytes_are_refused_as_by_eth_abi_or_equal(label, data):
    damaged = bytearray(data.draw(encoded(label)))
    for _ in range(data.draw(st.integers(1, 3))):
        word = 32 * data.draw(st.integers(0, max(len(damaged) // 32 - 1, 0)))
        match data.draw(st.sampled_from(["word", "word", "byte", "cut", "tail", "drop"])):
            case "word":
                damaged[word : word + 32] = data.draw(WORDS).to_bytes(32, "big")
            case "byte":
                place = data.draw(st.integers(0, max(len(damaged) - 1, 0)))
                damaged[place : place + 1] = data.draw(st.binary(min_size=1, max_size=1))
            case "cut":
                del damaged[data.draw(st.integers(0, len(damaged))) :]
            case "tail":
                damaged += data.draw(st.binary(max_size=70))
            case "drop":
                del damaged[word : word + 32]
    assert repr(ours(label, bytes(damaged))) == repr(expected(label, bytes(damaged)))


@every_layout
def test_no_cut_reads_beyond_the_data(label):
    whole = eth_abi.encode(raw_types(LAYOUTS[label]), [sample(field) for field in LAYOUTS[label]])
    for size in range(len(whole)):
        assert repr(ours(label, whole[:size])) == repr(expected(label, whole[:size])), size


def sample(field):
    kind = field["type"]
    if kind.endswith("[]"):
        return [sample({**field, "type": kind[:-2]})] * 2
    if kind == "tuple":
        return tuple(map(sample, field["components"]))
    if kind in ("string", "bytes"):
        return b"a text of more than thirty-two bytes"
    if kind.startswith("bytes"):
        return b"\1" * int(kind[5:])
    return {"address": b"\1" * 20, "bool": True}.get(kind, 1)


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 2**31, 2**32, 2**62, 2**63 - 33, 2**63 - 32, 2**63 - 31, 2**64])
def test_a_text_ends_with_the_data_unless_no_machine_has_that_many_bytes(length):
    data = (32).to_bytes(32, "big") + length.to_bytes(32, "big") + b"abc"
    found = ours("one text", data)
    assert found == expected("one text", data)
    assert (found is None) == (length > 2**63 - 32)


@pytest.mark.parametrize(
    ("kind", "word", "accepted"),
    [
        ("address", 2**160 - 1, True),
        ("address", 2**160, False),
        ("address", 2**255, False),
        ("bool", 1, True),
        ("bool", 2, False),
        ("bool", 257, False),
        ("uint24", 2**24 - 1, True),
        ("uint24", 2**24, False),
        ("uint24", 2**64, False),
        ("int24", 2**23 - 1, True),
        ("int24", 2**23, False),
        ("int24", 2**256 - 2**23, True),
        ("int24", 2**256 - 2**23 - 1, False),
        ("int24", 2**24 - 1, False),
        ("bytes4", 1 << 224, True),
        ("bytes4", 1, False),
    ],
)
def test_a_word_beyond_its_type_is_refused(kind, word, accepted):
    layout = compile_layout([{"type": kind, "name": "value"}])
    if accepted:
        layout.decode(word.to_bytes(32, "big"))
    else:
        with pytest.raises(MalformedDataError):
            layout.decode(word.to_bytes(32, "big"))


@pytest.mark.parametrize("kind", ["string[]", "uint8[][]", "uint8[3]", "function", "fixed128x18"])
def test_a_type_without_a_layout_is_refused_when_it_is_made(kind):
    with pytest.raises(ValueError, match="no layout"):
        compile_layout([{"type": kind, "name": "value"}])


def test_no_values_are_decoded_from_anything():
    assert compile_layout([]).decode(b"whatever") == {}


@given(st.binary(min_size=20, max_size=20), st.booleans(), st.sampled_from(["0x", "0X", ""]))
@example(bytes(20), False, "0x")
@example(b"\xff" * 20, True, "0x")
def test_an_address_has_its_eip_55_form(raw, upper, prefix):
    digits = raw.hex().upper() if upper else raw.hex()
    assert checksum_address(prefix + digits) == to_checksum_address(raw)


@pytest.mark.parametrize(
    "text", ["", "0x", "0x" + "1" * 39, "0x" + "1" * 41, "0x" + "g" * 40, " " * 42, "0x" + "１" * 40]
)
def test_what_is_no_address_has_no_eip_55_form(text):
    with pytest.raises(ValueError, match="address"):
        checksum_address(text)
