"""tokens/chains/addresses.py: Base58 and the two kinds of addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes.solana import recorded
from tests.nodes.solana.forms import base58
from tokens.chains.addresses import address_key, decode_base58, is_solana_address, is_solana_signature

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@given(st.text(max_size=50).filter(lambda text: not set(text) <= set(ALPHABET)))
def test_it_decodes_no_other_characters(text):
    with pytest.raises(ValueError, match="base58"):
        decode_base58(text)


def test_it_decodes_no_text_without_end():
    assert len(decode_base58("z" * 2_048)) == 1_500
    with pytest.raises(ValueError, match="more than 2048"):
        decode_base58("z" * 2_049)


@pytest.mark.parametrize("size", [0, 1, 20, 31, 32, 33, 63, 64, 65])
@given(filler=st.integers(0, 255))
def test_32_bytes_are_an_account_and_64_a_signature(size, filler):
    text = base58(bytes([filler]) * size)
    assert (is_solana_address(text), is_solana_signature(text)) == (size == 32, size == 64)


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
