"""The API contract's fields: accepted values, normal forms and refusals."""

import pytest
from rest_framework import serializers

from config.api.fields import FlagField, WholeNumberField
from config.parsing.json_rules import parse_flag
from tokens.chains.addresses import is_solana_address, parse_address, parse_pool_address, parse_transaction_hash
from tokens.installation.chain_fields import AddressField, PoolAddressField

# EIP-55's own examples.
CHECKSUMMED = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
]
# Wrapped SOL, the USDC mint, the system program (32 zero bytes), and 32 bytes 0xff.
MINTS = [
    "So11111111111111111111111111111111111111112",
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "1" * 32,
    "JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG",
]
ADDRESS = CHECKSUMMED[0]
HASH = "0x" + "aB" * 32

NOT_HEX = [
    "",
    " ",
    "0x",
    ADDRESS[2:],
    ADDRESS[:-1],
    ADDRESS + "0",
    ADDRESS + " ",
    " " + ADDRESS,
    ADDRESS + "\n",
    ADDRESS + "\0",
    ADDRESS[:-1] + "g",
    ADDRESS[:-1] + "\ud800",
    # Arabic-Indic and fullwidth digits are digits to Python's int().
    ADDRESS[:-1] + "\u0661",
    ADDRESS[:-1] + "\uff11",
    "1x" + ADDRESS[2:],
]


@pytest.mark.parametrize("text", [*NOT_HEX, HASH, *MINTS])
def test_it_refuses_what_is_no_evm_address(text):
    with pytest.raises(ValueError, match="must be a 20-byte hex address, 0x followed by 40 hex digits$"):
        parse_address(text)


@pytest.mark.parametrize("text", [*NOT_HEX, HASH, ADDRESS[:-2]])
def test_it_refuses_what_is_no_pool(text):
    with pytest.raises(ValueError, match="must be a pool address"):
        parse_pool_address(text if text != HASH else HASH + "0")


@pytest.mark.parametrize(
    "text", [*NOT_HEX, ADDRESS, HASH[:-1], HASH + "0", HASH[2:], HASH + "\n", HASH[:-1] + "\u0661"]
)
def test_it_refuses_what_is_no_transaction_hash(text):
    with pytest.raises(ValueError, match="must be a transaction hash, 0x followed by 64 hex digits"):
        parse_transaction_hash(text)


@pytest.mark.parametrize(
    "text",
    [
        *NOT_HEX,
        MINTS[0][:-1],
        MINTS[0] + "1",
        "1" * 31,
        "1" * 33,
        "z" * 44,
        MINTS[1].replace("E", "0"),
        MINTS[1].replace("E", "O"),
        MINTS[1].replace("E", "I"),
        MINTS[1].replace("E", "l"),
        MINTS[1] + "\n",
        " " + MINTS[1],
    ],
)
def test_it_refuses_what_is_neither_address_nor_mint(text):
    with pytest.raises(ValueError, match="or a base58 mint of 32 bytes"):
        parse_address(text, allow_mint=True)
    assert not is_solana_address(text)


@pytest.mark.parametrize("text", CHECKSUMMED)
def test_it_checksums_addresses_of_any_case(text):
    upper = "0X" + text[2:].upper()
    assert parse_address(text) == parse_address(text.lower()) == parse_address(upper) == text
    assert parse_pool_address(text.lower()) == text


@pytest.mark.parametrize("text", MINTS)
def test_it_keeps_mints_unchanged(text):
    assert parse_address(text, allow_mint=True) == text


def test_it_lowers_pool_ids_and_transaction_hashes():
    assert parse_pool_address(HASH) == parse_transaction_hash(HASH) == HASH.lower()


@pytest.mark.parametrize(
    ("text", "flag"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False)]
)
def test_it_reads_flags(text, flag):
    assert parse_flag(text) is flag


@pytest.mark.parametrize("text", ["", "yes", "t", "on", "2", "01", "true ", "\u0661", "ｔｒｕｅ", "None"])
def test_it_refuses_other_flags(text):
    with pytest.raises(ValueError, match="must be true, false, 1 or 0"):
        parse_flag(text)


@pytest.mark.parametrize("field", [AddressField(), AddressField(allow_mint=True), PoolAddressField()])
@pytest.mark.parametrize("value", [5, 0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED, True, 1.5, [ADDRESS], {}, "0x12"])
def test_a_field_names_its_rule_for_values_that_are_no_text_of_its_kind(field, value):
    with pytest.raises(serializers.ValidationError, match="must be a"):
        field.run_validation(value)


@pytest.mark.parametrize(
    ("field", "stored", "shown"),
    [
        (AddressField(), ADDRESS.lower(), ADDRESS),
        (AddressField(allow_mint=True), MINTS[1], MINTS[1]),
        (PoolAddressField(), HASH, HASH.lower()),
        (PoolAddressField(), ADDRESS.lower(), ADDRESS),
    ],
)
def test_a_field_shows_values_in_the_form_of_the_contract(field, stored, shown):
    assert field.to_representation(stored) == shown


def test_it_shows_null_where_there_is_no_value():
    class Record(serializers.Serializer):
        address = AddressField()

    assert Record({"address": None}).data == {"address": None}


@pytest.mark.parametrize(
    "value",
    [True, False, 1.0, 1.5, None, "", "1.0", " 1", "+1", "1_0", "9" * 5000, "1e1", "0x1", "٣", 21, -1, "21"],
)
def test_it_refuses_numbers_that_are_not_whole_or_not_within_the_limits(value):
    with pytest.raises(serializers.ValidationError):
        WholeNumberField(min_value=0, max_value=20).run_validation(value)


@pytest.mark.parametrize(("value", "number"), [(0, 0), ("0", 0), ("20", 20), (20, 20), ("007", 7)])
def test_it_takes_whole_numbers_within_the_limits(value, number):
    assert WholeNumberField(min_value=0, max_value=20).run_validation(value) == number


@pytest.mark.parametrize("value", ["yes", 2, 1.0, None, [], {}, ""])
def test_a_flag_field_refuses_all_but_the_four_words(value):
    with pytest.raises(serializers.ValidationError):
        FlagField().run_validation(value)


@pytest.mark.parametrize(("value", "flag"), [(True, True), (1, True), ("0", False), ("False", False)])
def test_a_flag_field_takes_booleans_and_the_four_words(value, flag):
    assert FlagField().run_validation(value) is flag
