"""tokens/chains/launching/launch_calls.py: calls against the launchpad SDK's recorded ones, byte for byte."""

import hashlib
from dataclasses import replace
from typing import Any

import eth_abi
import pytest

from tests.nodes.recordings import V4_LAUNCHES, base, mined
from tokens.chains.abi import codec
from tokens.chains.errors import LaunchOptionUnavailableError
from tokens.chains.launching.launch_calls import encode_launch
from tokens.chains.launching.launch_config import (
    AirdropShare,
    DynamicFee,
    LaunchConfig,
    OwnBuy,
    PresaleTerms,
    VaultShare,
)
from tokens.chains.launching.merkle import build_tree
from tokens.chains.registry.chains import ChainInfo, load_registry
from tokens.chains.transaction_types import ContractCall
from tokens.deploying import launch_request

DAY = 86_400
WETH = "0x4200000000000000000000000000000000000006"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
VAULT_ADMIN = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
# Three fee recipients, two also in an airdrop.
FIRST = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
SECOND = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
THIRD = "0x976EA74026E726554dB657fA54763abd0C3a0aa9"
ENTRIES = ((FIRST, 200_000_000 * 10**18), (SECOND, 50_000_000 * 10**18))
SALT = "0x" + "5a" * 32
KEY = "k" * 32
_ADMINS = {
    "deploy-airdrop": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "deploy-vault": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "deploy-devbuy": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
}
_NAMES = {
    "deploy-airdrop": ("Dropper", "DROP"),
    "deploy-devbuy": ("Dev Buy", "DVB"),
    "deploy-dynamic-fee": ("Dynamic", "DYN"),
    "deploy-multi-recipients": ("Split", "SPLT"),
    "deploy-plain": ("Plain", "PLN"),
    "deploy-token1": ("High Addr", "HIGH"),
    "deploy-vault": ("Vaulted", "VLT"),
}
_DYNAMIC = {
    "referenceTickFilterPeriod": 30,
    "resetPeriod": 120,
    "resetTickFilter": 200,
    "feeControlNumerator": 500_000_000,
    "decayFilterBps": 7_500,
}
# Each launch's settings beyond names and texts; the rest has defaults.
_BODIES = {
    "deploy-airdrop": {
        "airdrop": {
            "entries": [{"account": account, "amount": str(wei)} for account, wei in ENTRIES],
            "lockupDuration": 1,
            "vestingDuration": 1,
        }
    },
    "deploy-devbuy": {"devBuy": {"ethAmount": 0.1}},
    "deploy-dynamic-fee": {"fees": {"type": "dynamic", "baseFee": 1, "maxLpFee": 5} | _DYNAMIC},
    "deploy-multi-recipients": {
        "rewards": [
            {"admin": FIRST, "recipient": FIRST, "allocation": 70, "rewardsToken": "Paired"},
            {"admin": SECOND, "recipient": SECOND, "allocation": 20, "rewardsToken": "Clanker"},
            {"admin": THIRD, "recipient": THIRD, "allocation": 10, "rewardsToken": "Both"},
        ]
    },
    "deploy-plain": {},
    "deploy-token1": {},
    "deploy-vault": {
        "vault": {"percentage": 10, "lockupDuration": 30, "vestingDuration": 30, "recipient": VAULT_ADMIN},
    },
}


def admin_of(label: str) -> str:
    return _ADMINS.get(label, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")


def salt_of(label: str) -> str:
    # The only part that is not in a body: the service derives the salt from the partner and the request key.
    return "0x" + ("1" if label == "deploy-token1" else "0").rjust(64, "0")


def launch_of(label: str, **changes: Any) -> LaunchConfig:
    """Return the launch configuration for the recording's body, with changes."""
    return replace(launch_request.parse_launch_request(body_of(label)).config, **changes)


def plain(**changes: Any) -> LaunchConfig:
    return launch_of("deploy-plain", **changes)


def body_of(label: str) -> dict:
    name, symbol = _NAMES[label]
    token = {
        "name": name,
        "symbol": symbol,
        "tokenAdmin": admin_of(label),
        "image": "ipfs://bafkreib5h4mmqsgmm7at7wphdfy66oh4yfcqo6dz64olhwv3nejq5ysycm",
        "description": f"{name} test token",
        "socialMediaUrls": [{"platform": "x", "url": "https://x.com/example"}],
        "auditUrls": [],
        "requestKey": KEY,
    }
    context = {
        "interface": "SDK",
        "platform": "farcaster",
        "messageId": "0xabc0000000000000000000000000000000000001",
        "id": "12345",
    }
    return {"token": token, "context": context, "chainId": 8453} | _BODIES[label]


TERMS = PresaleTerms(
    bps=5_000,
    min_goal=10**18,
    max_goal=10**19,
    duration=3_600,
    recipient=VAULT_ADMIN,
    lockup=7 * DAY,
    vesting=DAY,
    allowlist=(),
)


@pytest.fixture(autouse=True)
def base_is_installed(settings, forget_chains):
    # Nothing is called there.
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    forget_chains()


def without(role: str, *, chain_id: int = 8453) -> ChainInfo:
    """Return a built-in chain that has no contract for launches in the role."""
    info = load_registry().chain(chain_id)
    contracts = {key: entry for key, entry in info.contracts.items() if not (entry.role == role and entry.deploy)}
    return replace(info, registered=contracts)


def deploy_call(info: ChainInfo, config: LaunchConfig, *, salt: str = SALT) -> ContractCall:
    return encode_launch(info, config, salt=salt).launch


def start_call(config: LaunchConfig, *, info: ChainInfo | None = None) -> ContractCall:
    call = encode_launch(info or base(), config, salt=SALT).presale_start
    assert call is not None
    return call


# Refused


@pytest.mark.parametrize(
    ("role", "field", "label"),
    [
        ("factory", "chainId", "deploy-plain"),
        ("locker", "chainId", "deploy-plain"),
        ("mev_module", "chainId", "deploy-plain"),
        ("static_hook", "fees.type", "deploy-plain"),
        ("dynamic_hook", "fees.type", "deploy-dynamic-fee"),
        ("vault", "vault", "deploy-vault"),
        ("airdrop", "airdrop", "deploy-airdrop"),
        ("dev_buy", "devBuy", "deploy-devbuy"),
    ],
)
def test_it_names_the_part_of_a_launch_request_for_which_the_chain_has_no_contract(role, field, label):
    with pytest.raises(LaunchOptionUnavailableError, match="not offered on chain 8453") as caught:
        deploy_call(without(role), launch_of(label))
    assert caught.value.field == field


def test_it_refuses_a_dev_buy_of_which_the_pair_would_have_to_be_bought_first():
    config = launch_of("deploy-devbuy", paired_token=USDC)
    with pytest.raises(LaunchOptionUnavailableError, match="wrapped native coin") as caught:
        deploy_call(base(), config)
    assert caught.value.field == "devBuy"


def test_it_refuses_a_choice_of_currency_where_the_locker_has_none():
    info = without("locker")
    unmarked = next(entry for entry in info.contracts.values() if entry.role == "locker" and not entry.deploy)
    info = replace(info, registered=info.registered | {unmarked.address.lower(): replace(unmarked, deploy="plain")})

    with pytest.raises(LaunchOptionUnavailableError, match="choice of currency") as caught:
        deploy_call(info, launch_of("deploy-multi-recipients"))
    assert caught.value.field == "rewards[0].rewardsToken"
    assert arguments(deploy_call(info, plain()))["lockerConfig"]["lockerData"] == "0x"


@pytest.mark.parametrize("chain_id", [56, 42161])
def test_it_refuses_a_presale_where_the_chain_has_no_contract_for_it(chain_id):
    config = plain(presale=TERMS)
    with pytest.raises(LaunchOptionUnavailableError, match=f"a presale is not offered on chain {chain_id}") as caught:
        deploy_call(load_registry().chain(chain_id), config)
    assert caught.value.field == "presale"


def test_it_refuses_a_presale_with_a_dev_buy_or_with_an_allowlist_that_no_one_stores():
    both = launch_of("deploy-devbuy", presale=TERMS)
    with pytest.raises(LaunchOptionUnavailableError, match="dev buy") as caught:
        deploy_call(base(), both)
    assert caught.value.field == "devBuy"

    listed = plain(presale=replace(TERMS, allowlist=(FIRST,)))
    with pytest.raises(LaunchOptionUnavailableError, match="allowlist") as caught:
        deploy_call(without("presale_allowlist"), listed)
    assert caught.value.field == "presale.allowlist"


def test_a_launch_without_a_presale_starts_none():
    assert encode_launch(base(), plain(), salt=SALT).presale_start is None


def test_it_encodes_no_price_in_a_pair_whose_decimals_were_not_read_from_the_chain():
    body = body_of("deploy-plain") | {"pool": {"pairedToken": VAULT_ADMIN}}
    config = launch_request.parse_launch_request(body).config
    with pytest.raises(ValueError, match="decimals of the paired token are not known"):
        deploy_call(base(), config)


# The recorded calls


@pytest.mark.parametrize("label", V4_LAUNCHES)
def test_it_makes_the_recorded_call_of_a_launch(label):
    call = deploy_call(base(), launch_of(label), salt=salt_of(label))

    recorded = mined(label).transaction
    assert (call.to.lower(), call.value) == (recorded["to"].lower(), int(recorded["value"], 16))
    assert call.data == recorded["input"]


# Cases without a recording


def arguments(call) -> dict:
    decoded_call = codec.load_abi("v4").function("deployToken").decode_input(call.data)
    assert decoded_call is not None
    config: dict = decoded_call["deploymentConfig"]
    return config


def test_hooks_of_v4_0_get_their_fees_bare_and_their_module_no_data():
    arbitrum = load_registry().chain(42161)
    config = arguments(deploy_call(arbitrum, plain(chain_id=42161)))

    assert config["poolConfig"]["hook"] == "0xf7aC669593d2D9D01026Fa5B756DD5B4f7aAa8Cc"
    assert config["poolConfig"]["poolData"] == "0x" + eth_abi.encode(["uint24", "uint24"], [10_000, 10_000]).hex()
    assert config["mevModuleConfig"] == {
        "mevModule": "0x4E35277306a83D00E13e8C8A4307C672FA31FC99",
        "mevModuleData": "0x",
    }
    assert config["tokenConfig"]["originatingChainId"] == 42161


def test_extensions_come_in_the_sdks_order_whatever_they_are_worth():
    config = replace(
        plain(),
        vault=launch_of("deploy-vault").vault,
        airdrop=launch_of("deploy-airdrop").airdrop,
        own_buy=OwnBuy(wei=7, recipient=FIRST),
    )
    call = deploy_call(base(), config)

    listed = [(entry["extension"], entry["msgValue"], entry["extensionBps"]) for entry in extensions_of(call)]
    assert listed == [
        ("0x8E845EAd15737bF71904A30BdDD3aEE76d6ADF6C", 0, 1_000),
        ("0xf652B3610D75D81871bf96DB50825d9af28391E0", 0, 25),
        ("0x1331f0788F9c08C8F38D52c7a1152250A9dE00be", 7, 0),
    ]
    assert call.value == 7


def extensions_of(call) -> tuple[dict, ...]:
    listed: tuple[dict, ...] = arguments(call)["extensionConfigs"]
    return listed


def test_texts_go_on_chain_as_they_are():
    odd = plain(name='犬 "🐕" \\', symbol="Ø", image="", metadata={}, context={"id": ""})
    call = deploy_call(base(), odd)

    token = arguments(call)["tokenConfig"]
    assert (token["name"], token["symbol"], token["image"]) == ('犬 "🐕" \\', "Ø", "")
    assert (token["metadata"], token["context"], token["salt"]) == ("", '{"id":""}', SALT)


def test_a_presale_is_the_last_extension_and_its_terms_follow_the_configuration():
    config = launch_of("deploy-vault", presale=TERMS)
    call = start_call(config)

    given = codec.load_abi("presale").function("startPresale").decode_input(call.data)
    assert (call.to, call.value) == ("0xeeBbC567C3D612f50a67820f39CDD30dcCF7E6b8", 0)
    *others, last = given.pop("deploymentConfig")["extensionConfigs"]
    assert last == {"extension": call.to, "msgValue": 0, "extensionBps": 5_000, "extensionData": "0x"}
    assert [entry["extension"] for entry in others] == ["0x8E845EAd15737bF71904A30BdDD3aEE76d6ADF6C"]
    assert given == {
        "minEthGoal": 10**18,
        "maxEthGoal": 10**19,
        "presaleDuration": 3_600,
        "presaleOwner": VAULT_ADMIN,
        "lockupDuration": 7 * DAY,
        "vestingDuration": DAY,
        "allowlist": "0x" + "00" * 20,
        "allowlistInitializationData": "0x",
    }


def test_those_of_an_allowlist_may_pay_up_to_the_goal_each():
    listed = plain(presale=replace(TERMS, allowlist=(FIRST, SECOND)))
    call = start_call(listed)

    given = codec.load_abi("presale").function("startPresale").decode_input(call.data)
    assert given["allowlist"] == "0x789c2452353eee400868E7d3e5aDD6Be0Ef4185D"
    assert given["allowlistInitializationData"] == build_tree([(FIRST, 10**19), (SECOND, 10**19)]).root


def test_a_presales_probe_is_a_launch_with_a_presale_that_was_not_started():
    call = deploy_call(base(), plain(presale=TERMS))

    assert call.to == base().addresses("factory", "v4")[0]
    (last,) = extensions_of(call)
    assert last["extensionData"] == "0x" + "00" * 32
    assert (last["extensionBps"], last["msgValue"], call.value) == (5_000, 0, 0)


EVERYTHING = {
    "fees": DynamicFee(
        base=2_500,
        maximum=50_000,
        reference_tick_filter_period=31,
        reset_period=121,
        reset_tick_filter=201,
        fee_control_numerator=500_000_001,
        decay_filter_bps=7_501,
    ),
    "vault": VaultShare(recipient=FIRST, bps=1_001, lockup=8 * DAY, vesting=DAY),
    "airdrop": AirdropShare(entries=ENTRIES, lockup=2 * DAY, vesting=3 * DAY),
}


@pytest.mark.parametrize(
    ("parts", "launch", "start"),
    [
        (
            EVERYTHING | {"own_buy": OwnBuy(wei=7, recipient=SECOND)},
            "4bfdb5a719c9bc84b23d8b9f00dc6ded7c66bdeb23fddd947984a9932594aef2",
            None,
        ),
        (
            EVERYTHING | {"presale": replace(TERMS, allowlist=(FIRST, SECOND))},
            "46c60776ab2fb81f98d278b46657a338e1317a8dd1f1333becbad2c202494569",
            "f29bac9ab1c94c610c202e701e2890888a4b38699202a1db45d52b972ea32fa5",
        ),
        (
            {"presale": TERMS},
            "e9bcc2a00958cc88f01d372b24686a261d7b22a25d82dfcbba5d0dacb8285f2d",
            "6a2e4e1bdc4d8710405879f9dd48fbebe16217f52940edc95ebc33ce9f31fdd8",
        ),
    ],
    ids=["dev-buy", "presale-with-an-allowlist", "presale"],
)
def test_calls_with_all_extensions_keep_their_bytes(parts, launch, start):
    """Compare SHA-256 digests of calldata; the SDK's recordings have one extension each, and no presale."""
    calls = encode_launch(base(), launch_of("deploy-multi-recipients", **parts), salt=SALT)
    digests = [call and hashlib.sha256(call.data.encode()).hexdigest() for call in (calls.launch, calls.presale_start)]
    assert digests == [launch, start]


def test_the_recorded_claim_proves_the_entries_of_the_airdrop():
    # claim(address token, address user, uint256 allocatedAmount, bytes32[] proof)
    claim = bytes.fromhex(mined("airdrop-claim").transaction["input"][10:])
    _, account, amount, proof = eth_abi.decode(["address", "address", "uint256", "bytes32[]"], claim)
    assert (account, amount) == (FIRST.lower(), ENTRIES[0][1])
    assert ["0x" + step.hex() for step in proof] == [build_tree([ENTRIES[1]]).root]
