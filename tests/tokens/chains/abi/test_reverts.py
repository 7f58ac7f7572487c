"""tokens/chains/abi/reverts.py: readable texts for every error that a launch's contract may return."""

import json
from pathlib import Path

import pytest
from eth_abi.abi import encode
from eth_utils.abi import abi_to_signature
from eth_utils.crypto import keccak

from development.devchain import node_client
from tokens.chains.abi import reverts
from tokens.chains.abi.reverts import describe_revert, known_errors

ARTIFACTS = sorted(path.stem for path in (Path(node_client.__file__).parent / "artifacts").glob("*.json"))
ERRORS = json.loads((Path(reverts.__file__).parent / "revert_errors.json").read_text(encoding="utf-8"))
HOOK = "0xb429d62f8f3bFFb98CdB9569533eA23bF0Ba28CC"


def reverted(signature, *values):
    """Encode a revert's data with this error."""
    kinds = signature[signature.index("(") + 1 : -1]
    return "0x" + (keccak(text=signature)[:4] + encode(kinds.split(",") if kinds else [], values)).hex()


def wrapped(inner, *, target=HOOK, details="HookCallFailed()"):
    """Wrap the data from a hook's revert as a Uniswap v4 pool does."""
    values = (target, bytes(4), bytes.fromhex(inner[2:]), keccak(text=details)[:4])
    return reverted("WrappedError(address,bytes4,bytes,bytes)", *values)


# The selectors in the launchpad's documents and in block explorers.
PUBLISHED = {
    "08c379a0": "Error(string)",
    "4e487b71": "Panic(uint256)",
    "90bfb865": "WrappedError(address,bytes4,bytes,bytes)",
    "5212cba1": "CurrencyNotSettled()",
    "8b063d73": "V4TooLittleReceived(uint256,uint256)",
    "5274afe7": "SafeERC20FailedOperation(address)",
    "118cdaa7": "OwnableUnauthorizedAccount(address)",
    "e450d38c": "ERC20InsufficientBalance(address,uint256,uint256)",
}


def test_selectors_are_those_that_were_published():
    assert {selector: known_errors()[bytes.fromhex(selector)] for selector in PUBLISHED} == PUBLISHED


def test_no_two_errors_share_a_selector():
    assert len(known_errors()) == len(ERRORS)


def test_the_list_is_sorted_and_names_the_source_of_each_error():
    signatures = [item["signature"] for item in ERRORS]
    assert signatures == sorted(set(signatures))
    assert all(item["from"] and item["from"] == sorted(set(item["from"])) for item in ERRORS)


@pytest.mark.parametrize("name", ARTIFACTS)
def test_every_error_of_the_development_contracts_is_known(name):
    declared = {abi_to_signature(item) for item in node_client.load_artifact(name).abi if item["type"] == "error"}
    assert declared <= set(known_errors().values())


def test_every_error_with_arguments_of_one_size_is_described_by_its_name_and_as_many_arguments():
    for item in ERRORS:
        name, _, kinds = item["signature"].removesuffix(")").partition("(")
        if item["signature"] == "Panic(uint256)" or {"string", "bytes"} & set(kinds.split(",")):
            continue
        expected = describe_revert("0x" + (keccak(text=item["signature"])[:4] + bytes(32 * 4)).hex())
        assert expected.startswith(f"{name}(")
        assert expected.count(",") == kinds.count(",")


DESCRIPTIONS = [
    (reverted("HookNotEnabled()"), "HookNotEnabled()"),
    (reverted("TickLowerOutOfBounds(int24)", -887_273), "TickLowerOutOfBounds(-887273)"),
    (reverted("TicksMisordered(int24,int24)", -200, -230_400), "TicksMisordered(-200, -230400)"),
    (reverted("SafeERC20FailedOperation(address)", HOOK.lower()), f"SafeERC20FailedOperation({HOOK})"),
    (reverted("ECDSAInvalidSignatureS(bytes32)", bytes(31) + b"\7"), f"ECDSAInvalidSignatureS(0x{7:064x})"),
    (reverted("StringTooLong(string)", "a name"), 'StringTooLong("a name")'),
    (
        reverted("ERC20InsufficientBalance(address,uint256,uint256)", HOOK, 10**29, 2**256 - 1),
        f"ERC20InsufficientBalance({HOOK}, {10**29}, {2**256 - 1})",
    ),
    (reverted("Error(string)", "not\n  today\0"), "Error(string): not today"),
    (reverted("Error(string)", ""), "Error(string): "),
    (reverted("Panic(uint256)", 0x12), "Panic(0x12): a division by zero"),
    (reverted("Panic(uint256)", 0x99), "Panic(0x99): unknown"),
    (wrapped(reverted("OnlyFactory()")), f"WrappedError({HOOK}): OnlyFactory()"),
    (wrapped(reverted("Error(string)", "no")), f"WrappedError({HOOK}): Error(string): no"),
    (wrapped("0x"), f"WrappedError({HOOK}): no reason"),
    (wrapped("0xdeadbeef"), f"WrappedError({HOOK}): an unknown error 0xdeadbeef"),
    (
        reverted("ExecutionFailed(uint256,bytes)", 2, bytes.fromhex(wrapped(reverted("PoolLocked()"))[2:])),
        f"ExecutionFailed(2): WrappedError({HOOK}): PoolLocked()",
    ),
    (
        reverted("UnexpectedRevertBytes(bytes)", bytes.fromhex(wrapped(reverted("NotAuctionBlock()"))[2:])),
        f"UnexpectedRevertBytes: WrappedError({HOOK}): NotAuctionBlock()",
    ),
    (reverted("UnexpectedRevertBytes(bytes)", b""), "UnexpectedRevertBytes: no reason"),
    ("0xdeadbeef", "an unknown error 0xdeadbeef"),
    ("0xDEADBEEF" + "00" * 32, "an unknown error 0xdeadbeef"),
    ("0x01", "an unknown error 0x01"),
    # Bytes behind the arguments change nothing.
    (reverted("InvalidAmount(uint256)", 5) + "ff", "InvalidAmount(5)"),
    # An error's selector, and cut arguments.
    (reverted("InvalidAmount(uint256)", 5)[:-2], "InvalidAmount with arguments that are no uint256"),
    ("0x08c379a0", "Error with arguments that are no string"),
    ("0x08c379a0" + "ff" * 64, "Error with arguments that are no string"),
    # An address with nonzero padding.
    (
        "0x" + keccak(text="NotApproved(address)")[:4].hex() + "ff" * 32,
        "NotApproved with arguments that are no address",
    ),
]


@pytest.mark.parametrize(("data", "expected"), DESCRIPTIONS, ids=lambda value: value[:60])
def test_it_is_described_with_its_arguments(data, expected):
    assert describe_revert(data) == expected


@pytest.mark.parametrize("data", ["", "0x", "revert", "0xzz", "0x123", "Bad instruction fe"])
def test_what_is_no_data_has_no_description(data):
    assert describe_revert(data) is None


def test_what_is_endless_is_cut():
    long = "a very long text " * 1_000
    assert len(describe_revert(reverted("Error(string)", long))) < 400
    assert len(describe_revert(reverted("StringTooLong(string)", long))) < 400
    bomb = reverted("PoolLocked()")
    for _ in range(50):
        bomb = wrapped(bomb)
    assert len(describe_revert(bomb)) < 1_000


def test_text_that_is_no_utf_8_is_described_as_far_as_it_is():
    data = "0x08c379a0" + encode(["bytes"], [b"caf\xe9 \x1b[2J"]).hex()
    assert describe_revert(data) == "Error(string): caf\ufffd [2J"
