"""Solidity declarations become the same events and functions as an ABI's items."""

import pytest
from web3 import Web3

from tokens.chains.abi.codec import declared_event, declared_function
from tokens.chains.abi.declarations import DeclarationError

KEY = "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)"
COIN = (
    "(address indexed caller, address indexed payoutRecipient, address indexed platformReferrer, address currency,"
    f" string uri, string name, string symbol, address coin, {KEY} poolKey, bytes32 poolKeyHash, string version)"
)
# Topics of logs on public chains, by the explorers and fixtures that docs/launchpads.md names.
EVENTS = {
    f"CoinCreatedV4{COIN}": "0x2de436107c2096e039c98bbcc3c5a2560583738ce15c234557eecb4d3221aa81",
    f"event CreatorCoinCreated{COIN};": "0x74b670d628e152daa36ca95dda7cb0002d6ea7a37b55afe4593db7abd1515781",
    "Create(address asset, address indexed numeraire, address initializer, address poolOrHook)": (
        "0x68ff1cfcdcf76864161555fc0de1878d8f83ec6949bf351df74d8a4a1a2679ab"
    ),
    "PoolCreated(bytes32 indexed _poolId, address _memecoin, address _memecoinTreasury, uint _tokenId,"
    " bool _currencyFlipped, uint256 _flaunchFee, tuple(string name, string symbol, string tokenUri, uint256 a,"
    " uint256 b, uint256 c, address creator, uint24 creatorFeeAllocation, uint256 flaunchAt, bytes d, bytes e)"
    " _params)": "0x54976b48704e67457d6a85a2db51d6e760bbeddf6151f9206512108adce80b42",
    "TokenCreate(address creator, address token, uint256 requestId, string name, string symbol,"
    " uint256 totalSupply, uint256 launchTime, uint256 launchFee)": (
        "0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20"
    ),
    "Graduated(address indexed token, address agentToken)": (
        "0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e"
    ),
}


@pytest.mark.parametrize(("declaration", "topic0"), EVENTS.items())
def test_an_event_has_the_topic_that_contracts_emit(declaration, topic0):
    assert declared_event(declaration).topic0 == topic0


def test_an_indexed_struct_or_text_is_the_hash_that_its_topic_has():
    event = declared_event(f"Swap(address indexed sender, {KEY} indexed poolKey, string indexed note, uint8 kind)")
    assert event.signature == "Swap(address,(address,address,uint24,int24,address),string,uint8)"
    sender, hashes, kind = "0x" + "00" * 12 + "11" * 20, ("0x" + "22" * 32, "0x" + "33" * 32), "0x" + "00" * 31 + "07"
    assert event.decode({"topics": [event.topic0, sender, *hashes], "data": kind}) == {
        "sender": "0x" + "11" * 20,
        "poolKey": hashes[0],
        "note": hashes[1],
        "kind": 7,
    }


@pytest.mark.parametrize(
    ("declaration", "selector"),
    [
        ("function name() view returns (string)", "name()"),
        ("getAssetData(address asset) external view returns (address numeraire, uint256)", "getAssetData(address)"),
        ("tokenInfo(address) returns ((string name, string uri) info, uint8[] flags)", "tokenInfo(address)"),
    ],
)
def test_a_function_has_the_selector_of_its_types(declaration, selector):
    assert declared_function(declaration).selector == "0x" + Web3.keccak(text=selector)[:4].hex()


def test_results_without_a_name_have_that_of_their_place():
    function = declared_function("getAssetData(address) view returns (address numeraire, uint256, address)")
    assert function.outputs.names == ("numeraire", "value1", "value2")


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        ("", "the name of the event at the end"),
        ("Made", "expected `(` at the end"),
        ("Made(address", "the name of argument 1 at the end"),
        ("Made(address)", "the name of argument 1 at `)`"),
        ("Made(address token address)", "expected `,` at `address)`"),
        ("Made(address token, uint8 token)", "two arguments have the name token"),
        ("Made(Token token)", "unknown type Token: write a struct as"),
        ("Made(uint7 token)", "unknown type uint7"),
        ("Made(bytes33 token)", "unknown type bytes33"),
        ("Made(address[3] tokens)", "fixed length"),
        ("Made(address[][] tokens)", "lists of lists"),
        ("Made(address token) anonymous", "anonymous"),
        ("Made(address token) extra", "expected the end at `extra`"),
        ("Made(address token, )", "the name of a type at `)`"),
        ("Made(uint8 indexed a, uint8 indexed b, uint8 indexed c, uint8 indexed d)", "4 indexed arguments"),
        ("Made(address töken)", "no such character at `öken)`"),
        ("Made(" + "(" * 9 + "uint8 a" + ") a" * 9 + ")", "deep"),
        ("Made(" + "uint8 a, " * 900 + ")", "longer than"),
    ],
)
def test_a_wrong_declaration_names_its_place(declaration, words):
    with pytest.raises(DeclarationError) as refused:
        declared_event(declaration)
    assert words in str(refused.value)
