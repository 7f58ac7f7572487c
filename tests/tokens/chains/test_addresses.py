"""tokens/chains/addresses.py: Base58 and the two kinds of addresses, against a separate encoder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes import solana_recorded as recorded
from tests.nodes.solana_forms import base58
from tokens.chains.addresses import address_key, decode_base58, is_solana_address, is_solana_signature

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@given(st.binary(max_size=300))
def test_bytes_go_to_text_and_back(data):
    assert decode_base58(base58(data)) == data


@given(st.text(ALPHABET, max_size=100))
def test_text_goes_to_bytes_and_back(text):
    assert base58(decode_base58(text)) == text


@given(st.text(max_size=50).filter(lambda text: not set(text) <= set(ALPHABET)))
def test_it_decodes_no_other_characters(text):
    with pytest.raises(ValueError, match="base58"):
        decode_base58(text)


def test_it_decodes_no_text_without_end():
    assert len(decode_base58("z" * 2_048)) == 1_500
    with pytest.raises(ValueError, match="more than 2048"):
        decode_base58("z" * 2_049)


@given(st.binary(min_size=32, max_size=32))
def test_32_bytes_are_an_account_and_no_signature(data):
    assert (is_solana_address(base58(data)), is_solana_signature(base58(data))) == (True, False)


@given(st.binary(min_size=64, max_size=64))
def test_64_bytes_are_a_signature_and_no_account(data):
    assert (is_solana_address(base58(data)), is_solana_signature(base58(data))) == (False, True)


@pytest.mark.parametrize("size", [0, 1, 20, 31, 33, 63, 65])
@given(filler=st.integers(0, 255))
def test_any_other_number_of_bytes_is_neither(size, filler):
    text = base58(bytes([filler]) * size)
    assert (is_solana_address(text), is_solana_signature(text)) == (False, False)


@pytest.mark.parametrize("zeros", [0, 1, 16, 31, 32])
def test_each_leading_one_is_a_byte(zeros):
    text = base58(bytes(zeros) + b"\xff" * (32 - zeros))
    assert text.startswith("1" * zeros)
    assert is_solana_address(text)
    assert not is_solana_address("1" + text)
    assert not zeros or not is_solana_address(text[1:])


@given(place=st.integers(0, 43), letter=st.sampled_from("0OIl"))
def test_letters_that_look_like_others_are_none(place, letter):
    text = recorded.MINT[:place] + letter + recorded.MINT[place + 1 :]
    assert not is_solana_address(text)
    with pytest.raises(ValueError, match="base58"):
        decode_base58(text)


@given(st.data())
def test_another_case_is_another_account_or_none(sample):
    place = sample.draw(st.integers(0, len(recorded.MINT) - 1).filter(lambda place: recorded.MINT[place].isalpha()))
    other = recorded.MINT[:place] + recorded.MINT[place].swapcase() + recorded.MINT[place + 1 :]
    assert address_key(other) != address_key(recorded.MINT)
    if is_solana_address(other):
        assert decode_base58(other) != decode_base58(recorded.MINT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " " + recorded.MINT,
        recorded.MINT + " ",
        recorded.MINT + "\n",
        recorded.MINT + "\0",
        recorded.MINT[:-1] + "Ω",
        recorded.MINT[:-1] + "１",
        "0x" + "11" * 20,
        "0x" + "11" * 32,
        "z" * 44,
        "z" * 88,
        "z" * 10_000,
        "\ud800",
    ],
)
def test_it_is_neither_an_account_nor_a_signature(text):
    assert (is_solana_address(text), is_solana_signature(text)) == (False, False)


@given(st.text())
def test_whatever_the_text_there_is_an_answer(text):
    assert (is_solana_address(text), is_solana_signature(text)) in {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("text", [recorded.MINT, recorded.LAUNCH])
def test_base58_is_its_own_key(text):
    assert address_key(text) == text


def test_hex_has_one_key_for_all_cases():
    text = "0x4200000000000000000000000000000000000AbC"
    assert address_key(text) == address_key(text.lower()) == text.lower()
