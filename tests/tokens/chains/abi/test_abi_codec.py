"""tokens/chains/abi/codec.py: the ABI files against published topics, and decoding against web3 and viem."""

import json
from pathlib import Path

import eth_abi
import pytest
from eth_utils.crypto import keccak
from web3 import Web3

from tests.nodes.launchpad_recordings import RECORDINGS, load_recording
from tests.nodes.recordings import RECORDED_LAUNCHES, decoded, mined, recorded_chain
from tokens.chains.abi import codec
from tokens.chains.errors import LogDecodingError

ABIS = Path(codec.__file__).parent / "json"
NAMES = sorted(path.stem for path in ABIS.glob("*.json"))

# From the contracts' documentation: file, event, topic0, number of indexed arguments. v2 has v1's signature.
TOPICS = [
    ("v0", "TokenCreated", "0xcd465acec733178787a0c3bc8cd8f6eae657c45b61c6a3e15d13c176c9c536ad", 0),
    ("v1", "TokenCreated", "0x0e9d60e5c5597233717659e7b39411e0a61e7177252521b9c6f515f75f6fef01", 0),
    ("v3", "TokenCreated", "0x8df367d10c042c43a79f6842addf298c4b250b4cb2145cae311c9ba110ff8e17", 0),
    ("v3_1", "TokenCreated", "0x6b04d68ca5c822b9c981d731c83ecb1356b96c8596c7659d397d234856a4537b", 3),
    ("v3_1", "TokenRewardAdded", "0xa825a93a934d13b1aa1603bb96058f0fe57f01306803bd7df2c8b259ccf8d5b7", 2),
    ("v3_1", "AllocationCreated", "0xbedbcd477532e606e16890ce07719fa624ddaea21e27abae398e7f46748e728f", 2),
    ("v4", "TokenCreated", "0x9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67", 2),
    ("v4", "TokenRewardAdded", "0xc9b03d1b68674b3ca5738b69c14e4dbcfcb7f474303edd540b1d7dfa785d27ff", 0),
    ("v4", "InitialFeePreferences", "0xbaec34d3ecbf576ff529cb3cb8de8cbe0f27bb44d90d526a5c1ff0cd4b994636", 1),
    ("v4", "PoolCreatedFactory", "0xc2cc0ae95873d7fa4e50998bc075ab443517931580a05c3f76d9fc983c666a5c", 2),
    ("v4", "PoolInitialized", "0xde0cc41485843685947cd8856be361f8038580ba3916da280a9e36d8cc499982", 0),
    ("v4", "PoolInitialized", "0x432632506f74db6583b1c612fbc7f00dc5ed2b2cdb9aeb8080ce8dca32dca49d", 0),
    ("v4", "AllocationCreated", "0x7090ec2ef3719d9bf817463bcacd6d90bc8f956cafa66eb86763eec0628f19f8", 2),
    ("v4", "AirdropCreated", "0x9794eb668650e78abd5f1c3a03934de180ef7542028ada1c7478d2416d986fab", 1),
    ("v4", "AirdropCreated", "0x30d4da1efc8f5b956bb2dd6d54c332ec580cc814ab7c5fa0a3c5bb0584f619c2", 2),
    ("v4", "EthDevBuy", "0x74dba82203a486f524dc5d1931f82939c29eee6baf03b53fef9dc5a3031f9f3d", 2),
    ("v4", "PresaleDeployed", "0x0649a41070eb86a38d84c0a1a373a5ba0f9f6f50b77d1005352021567b3fa939", 1),
    ("after_launch", "UpdateImage", "0xa27234ca678ebcb3cd33e8325c5563cd8d9ff626cc44a58b6ea2bf4b55524216", 0),
    ("after_launch", "UpdateMetadata", "0xf26c33166d6eefdac067b052550e7713b98ff0ffc4abb3caf719a1de36b651f4", 0),
    ("after_launch", "UpdateAdmin", "0xcd6ba6b7da89e039d53b5d981527a893755342bb9d8e5c2f61f6638f1fb5192b", 2),
    ("after_launch", "Verified", "0x78a953f3f0d92abc078a34e5d4fedf8708e788e1b29300b3d6170e97f88a13fc", 2),
    ("after_launch", "ClaimedRewards", "0x21d15f71483b597e8f0009e83b90b2117f6f98c185d7173857dddcae5eb8546a", 1),
    ("after_launch", "ClaimedRewards", "0xf18d15fcfcdd756d5e1fe9c0379d1f5acb552fdf231bc052916d1817b4b941e5", 3),
    ("after_launch", "ClaimedRewards", "0x371e1f3c7465954c17e4a26f8a768238ab06ee6557de2bdd0fad0dda6d181678", 3),
    ("after_launch", "ClaimedFees", "0x065e4dcc9ce2c38d1e644a8ab506135c87247724a28dae11742e6df81322ae1f", 3),
    ("after_launch", "RewardRecipientUpdated", "0x189a28a3be2ec38788a4a7ff2146b2d9f4f852de2353c9287fed2564845a05d8", 2),
    ("after_launch", "RewardAdminUpdated", "0x2aad5ba8634f3d476ba298c3c089253d053106f0dd2caac6bae480ed9db420bf", 2),
    (
        "after_launch",
        "CreatorRewardRecipientUpdated",
        "0x8b82c83824d9033277aa41c543b5e53662a3b944a80fdc9b01ff1b7a4d737ca2",
        2,
    ),
    (
        "after_launch",
        "InterfaceRewardRecipientAdminUpdated",
        "0x81c087afd6e0515c84a3516ff82c92e261554d53c3e85ed966d4405df38ebb5a",
        2,
    ),
    ("after_launch", "FeePreferenceUpdated", "0xbdea11477c14b070d2aa993c843410d81a6b8672d5175d1742df11a3c2f9ae25", 3),
    ("after_launch", "ClaimTokens", "0xf98eaa9c1f790e5c18b1f227bd5bade62600f9f3e3587c7644b90c50b9bf13c5", 2),
    ("after_launch", "ClaimTeamFees", "0xe5b9f4d1f6cf7c3238f0c0b48597a9ccd3ff3d2309f3ccd30bd46aad5e06a638", 2),
    ("after_launch", "AllocationClaimed", "0x2ab4392cda0fd42f52cf96615f7267094b2da30a49c57e995b59317097bc463e", 1),
    ("after_launch", "AllocationUnlocked", "0x2bf51996ecfc11fbbbd4f2efdfb9706f24b90e576c4840ff867194d6a433d0f0", 1),
    ("after_launch", "AllocationAdminUpdated", "0x30ebdb166313f0bb748f7403e32cfba783dd777b721dd102e1693f3ecda1ae5b", 3),
    ("after_launch", "AirdropClaimed", "0xd399c6e7fad358fc300beda3f056717c94a04c7233ce92683de6500ba509022e", 2),
    ("v4_fees", "ClaimedRewards", "0x21d15f71483b597e8f0009e83b90b2117f6f98c185d7173857dddcae5eb8546a", 1),
    ("uniswap_v3", "Swap", "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67", 2),
    ("uniswap_v4", "Swap", "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f", 2),
    ("uniswap_v4", "ModifyLiquidity", "0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec", 2),
    ("uniswap_v2", "PairCreated", "0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9", 2),
    ("uniswap_v2", "Mint", "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f", 1),
    ("uniswap_v2", "Burn", "0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496", 2),
    ("uniswap_v2", "Swap", "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822", 2),
    ("uniswap_v2", "Sync", "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1", 0),
    ("uniswap_v3", "PoolCreated", "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118", 3),
]

# Published only as signatures.
SIGNATURES = [
    ("v4", "FeeConfigSet(bytes32,uint24,uint24,uint256)", 0),
    ("after_launch", "AirdropMerkleRootUpdated(address,bytes32,bytes32)", 1),
    ("after_launch", "AirdropAdminUpdated(address,address,address)", 3),
    ("after_launch", "CreatorRewardRecipientAdminUpdated(uint256,address,address)", 2),
    ("after_launch", "InterfaceRewardRecipientUpdated(uint256,address,address)", 2),
    ("after_launch", "ClaimTokensPermissioned(address,address,address,uint256)", 2),
    ("after_launch", "Transfer(address,address,uint256,address,address)", 3),
    ("uniswap_v3", "Initialize(uint160,int24)", 0),
    ("uniswap_v3", "Mint(address,address,int24,int24,uint128,uint256,uint256)", 3),
    ("uniswap_v3", "Burn(address,int24,int24,uint128,uint256,uint256)", 3),
    ("uniswap_v3", "Transfer(address,address,uint256)", 3),
    ("token", "Transfer(address,address,uint256)", 2),
    ("uniswap_v4", "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)", 3),
    ("uniswap_v4", "Transfer(address,address,address,uint256,uint256)", 3),
    ("v4_fees", "FeesSwapped(address,address,uint256,address,uint256)", 3),
]

SELECTORS = [
    ("v0", "deployToken(string,string,uint256,int24,uint24,bytes32,address)"),
    ("v1", "deployToken(string,string,uint256,int24,uint24,bytes32,address,uint256,string,string)"),
    (
        "v2",
        "deployToken(string,string,uint256,uint24,bytes32,address,uint256,string,string,(int24,address,uint24))",
    ),
    (
        "v3",
        "deployToken((string,string,uint256,uint24,bytes32,address,uint256,string,string,(int24,address,uint24)))",
    ),
    ("v4_fees", "tokenRewards(address)"),
    ("v4_fees", "feePreferences(address,uint256)"),
    ("v4_fees", "availableFees(address,address)"),
    ("v4_fees", "collectRewards(address)"),
    ("uniswap_v4", "positionInfo(uint256)"),
    ("uniswap_v4", "getPositionInfo(bytes32,address,int24,int24,bytes32)"),
    ("uniswap_v4", "getFeeGrowthInside(bytes32,int24,int24)"),
    ("token", "symbol()"),
    ("token", "decimals()"),
    ("token", "totalSupply()"),
    ("token", "imageUrl()"),
    ("token", "image()"),
    ("token", "metadata()"),
    ("token", "context()"),
]


def events():
    return [(name, event) for name in NAMES for group in codec.load_abi(name).events.values() for event in group]


@pytest.mark.parametrize(("name", "event", "topic0", "indexed"), TOPICS)
def test_an_event_has_its_published_topic(name, event, topic0, indexed):
    found = {known.topic0: known.indexed for known in codec.load_abi(name).events[event]}
    assert found.get(topic0) == indexed


def test_every_event_is_compared_with_what_was_published():
    published = {(name, topic0) for name, _, topic0, _ in TOPICS}
    published |= {(name, "0x" + keccak(text=signature).hex()) for name, signature, _ in SIGNATURES}
    assert {(name, event.topic0) for name, event in events()} == published


@pytest.mark.parametrize(("name", "signature", "indexed"), SIGNATURES)
def test_an_event_has_its_published_signature(name, signature, indexed):
    event = codec.load_abi(name).event(signature.partition("(")[0])
    assert event.topic0 == "0x" + keccak(text=signature).hex()
    assert event.indexed == indexed


@pytest.mark.parametrize(("name", "signature"), SELECTORS)
def test_a_function_has_its_published_selector(name, signature):
    function = codec.load_abi(name).function(signature.partition("(")[0])
    assert function.selector == "0x" + keccak(text=signature)[:4].hex()


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_the_recorded_calldata_is_read(label):
    transaction = mined(label).transaction
    known = [function for name in NAMES for function in codec.load_abi(name).deploy_functions()]
    (arguments,) = filter(None, (function.decode_input(transaction["input"]) for function in known))
    recorded = decoded(label)["decodedCall"]
    if recorded:
        assert plain(arguments["deploymentConfig"]) == plain(recorded["args"][0])


def all_recorded_logs():
    launchpads = (entry["receipt"] for path in RECORDINGS for entry in load_recording(path)["transactions"])
    return [log for receipt in (*recorded_chain()["receipts"].values(), *launchpads) for log in receipt["logs"]]


def plain(value):
    """Return any decoder's values in one form: lower-case hex, lists, whole numbers."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str) and value.startswith("0x"):
        return value.lower()
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else value


def test_every_recorded_log_is_decoded_as_web3_does():
    compared = set()
    for name in NAMES:
        items = json.loads((ABIS / f"{name}.json").read_text(encoding="utf-8"))
        contract = Web3().eth.contract(abi=[{"anonymous": False} | item for item in items])
        for group in codec.load_abi(name).events.values():
            for event in group:
                reference = contract.get_event_by_signature(event.signature)()
                for log in all_recorded_logs():
                    if log["topics"][0] == event.topic0 and len(log["topics"]) == event.indexed + 1:
                        assert plain(event.decode(log)) == plain(reference.process_log(as_web3(log))["args"])
                        compared.add((name, event.signature))
    # Not recorded: v1 shares its event with v2, v3.0 has its own; the others have no transaction.
    missing = {(name, event.signature) for name, event in events()} - compared
    assert {(name, signature.partition("(")[0]) for name, signature in missing} == {
        ("v3", "TokenCreated"),
        ("uniswap_v2", "Burn"),
        ("v4", "AirdropCreated"),
        ("v4", "PresaleDeployed"),
        ("after_launch", "UpdateMetadata"),
        ("after_launch", "RewardAdminUpdated"),
        ("after_launch", "AllocationUnlocked"),
        ("after_launch", "CreatorRewardRecipientUpdated"),
        ("after_launch", "CreatorRewardRecipientAdminUpdated"),
        ("after_launch", "InterfaceRewardRecipientUpdated"),
        ("after_launch", "InterfaceRewardRecipientAdminUpdated"),
        ("after_launch", "ClaimTokensPermissioned"),
        ("after_launch", "Transfer"),
        ("after_launch", "AllocationAdminUpdated"),
        ("after_launch", "AirdropMerkleRootUpdated"),
        ("after_launch", "AirdropAdminUpdated"),
    }


def as_web3(log):
    return log | {
        "topics": [bytes.fromhex(topic[2:]) for topic in log["topics"]],
        "data": bytes.fromhex(log["data"][2:]),
    }


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_the_logs_of_a_launch_are_decoded_as_another_decoder_did(label):
    known = {(event.topic0, event.indexed + 1): event for _, event in events()}
    compared = 0
    for log, reference in zip(mined(label).logs, decoded(label)["decodedLogs"], strict=True):
        event = known.get((log["topics"][0], len(log["topics"])))
        if event and event.signature.startswith(reference["event"] + "("):
            ours = plain(event.decode(log))
            # Other tokens' proxies have other names for Transfer's arguments; the values are the same.
            theirs = plain(reference["args"])
            assert (ours == theirs) or list(ours.values()) == list(theirs.values())
            compared += 1
    assert compared >= 6


@pytest.mark.parametrize("event", [event for _, event in events()], ids=lambda event: event.signature[:40])
def test_a_malformed_log_is_undecodable(event):
    topics = [event.topic0, *["0x" + "00" * 32] * event.indexed]
    fitting = {"topics": topics, "data": "0x" + "00" * 2048, "logIndex": "0x0"}
    broken = [fitting | {"topics": [*topics, "0x" + "00" * 32]}, fitting | {"topics": topics[:0]}]
    data_types = event.layout.types[event.indexed :]
    if data_types:
        broken += [fitting | {"data": data} for data in ("0x", "0x00", "0x" + "ff" * 2048, "0x" + "zz" * 32)]
    for log in broken:
        # A word with only ones is a valid number, also in a smaller signed type: all other types refuse it.
        if log["data"].startswith("0xff") and set(data_types) <= {"uint256", "int256", "int24", "bytes32"}:
            continue
        with pytest.raises(LogDecodingError):
            event.decode(log)


def test_values_in_place_of_bytes_are_encoded_at_any_depth():
    inner = codec.AbiData(("uint24", "string"), (7, b"text"))
    outer = codec.AbiData(("(address,bytes)[]",), ([("0x" + "11" * 20, inner)],))
    encoded_inner = eth_abi.encode(["uint24", "string"], [7, "text"])
    encoded_outer = eth_abi.encode(["(address,bytes)[]"], [[("0x" + "11" * 20, encoded_inner)]])

    encoded = codec.encode_values(["uint8", "(bytes,bytes)"], [1, (outer, b"raw")])
    assert encoded == eth_abi.encode(["uint8", "(bytes,bytes)"], [1, (encoded_outer, b"raw")])
