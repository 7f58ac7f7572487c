"""Presales on the development chain: permissions and times of start, purchase, refund, end and claim."""

import os
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak
from web3.contract import Contract
from web3.exceptions import ContractCustomError

from development.devchain import node_client
from development.devchain.airdrop_tree import merkle_proof, merkle_root
from development.devchain.anvil import DEPLOYER
from development.devchain.deploy_contracts import OWNER, DevelopmentContracts
from development.devchain.launch_transactions import (
    DAY,
    TOKEN_SUPPLY,
    ZERO_ADDRESS,
    DevLaunchConfig,
    LaunchPurchase,
    deployment_config,
)
from development.devchain.node_client import load_artifact
from tests.nodes.devchain_tests import OTHER, SENDER, STRANGER, events_of, let_pass, refused, token_at
from tokens.chains.abi import codec

ETHER = 10**18
HOUR = 3_600
ACTIVE, MAXIMUM_HIT, FAILED, CLAIMABLE = 1, 3, 4, 5


@pytest.fixture
def presale(own_contracts: DevelopmentContracts) -> Contract:
    return node_client.bind_contract(own_contracts.rpc_url, "Presale", own_contracts.presale)


def configuration(
    deployment: DevelopmentContracts, config: DevLaunchConfig | None = None, *, bps: int = 5_000
) -> dict[str, Any]:
    made = deployment_config(deployment, config or DevLaunchConfig(), sender=SENDER)
    extension = {
        "extension": deployment.presale,
        "msgValue": 0,
        "extensionBps": bps,
        "extensionData": encode(["uint256"], [0]),
    }
    return made | {"extensionConfigs": [*made["extensionConfigs"], extension]}


def terms(**changes: Any) -> dict[str, Any]:
    usual = {
        "minEthGoal": ETHER,
        "maxEthGoal": 3 * ETHER,
        "presaleDuration": HOUR,
        "presaleOwner": SENDER,
        "lockupDuration": 7 * DAY,
        "vestingDuration": 0,
        "allowlist": ZERO_ADDRESS,
        "allowlistInitializationData": b"",
    }
    return usual | changes


def start(deployment: DevelopmentContracts, presale: Contract, **changes: Any) -> int:
    """Start a sale and return its id."""
    call = presale.functions.startPresale(configuration(deployment), *terms(**changes).values())
    receipt = node_client.transact(deployment.rpc_url, call, sender=DEPLOYER)
    (started,) = (values for name, values in events_of(deployment, receipt) if name == "PresaleStarted")
    presale_id: int = started["presaleId"]
    return presale_id


def buy(deployment: DevelopmentContracts, presale: Contract, presale_id: int, *, sender: str, value: int) -> None:
    node_client.transact(deployment.rpc_url, presale.functions.buyIntoPresale(presale_id), sender=sender, value=value)


def status(presale: Contract, presale_id: int) -> int:
    found: int = presale.functions.presaleState(presale_id).call()[0]
    return found


# Refused


def test_only_admins_start_a_presale(own_contracts: DevelopmentContracts, presale: Contract) -> None:
    call = presale.functions.startPresale(configuration(own_contracts), *terms().values())
    with refused("Unauthorized"):
        call.call({"from": STRANGER})
    with refused("Unauthorized"):
        presale.functions.setAdmin(STRANGER, True).call({"from": STRANGER})
    for admin in (OWNER, DEPLOYER):
        assert call.call({"from": admin}) > 0


@pytest.mark.parametrize(
    ("error", "changes"),
    [
        ("InvalidPresaleOwner", {"presaleOwner": ZERO_ADDRESS}),
        ("InvalidEthGoal", {"maxEthGoal": 0, "minEthGoal": 0}),
        ("InvalidEthGoal", {"minEthGoal": 3 * ETHER + 1}),
        ("InvalidPresaleDuration", {"presaleDuration": 0}),
        ("InvalidPresaleDuration", {"presaleDuration": 42 * DAY + 1}),
        ("LockupDurationTooShort", {"lockupDuration": 7 * DAY - 1}),
        ("AllowlistNotEnabled", {"allowlist": STRANGER}),
    ],
)
def test_it_refuses_terms(
    own_contracts: DevelopmentContracts, presale: Contract, error: str, changes: dict[str, Any]
) -> None:
    call = presale.functions.startPresale(configuration(own_contracts), *terms(**changes).values())
    with refused(error):
        call.call({"from": DEPLOYER})


def test_it_refuses_a_launch_of_which_it_is_not_the_last_extension(
    own_contracts: DevelopmentContracts, presale: Contract
) -> None:
    of_others = deployment_config(
        own_contracts, DevLaunchConfig(own_buy=LaunchPurchase(recipient=SENDER)), sender=SENDER
    )
    for config, error in (
        (of_others, "PresaleNotLastExtension"),
        (of_others | {"extensionConfigs": []}, "PresaleNotLastExtension"),
        (configuration(own_contracts, bps=0), "InvalidPresaleSupply"),
    ):
        with refused(error):
            presale.functions.startPresale(config, *terms().values()).call({"from": DEPLOYER})


def test_only_the_presale_launches_with_it(own_contracts: DevelopmentContracts, presale: Contract) -> None:
    factory = node_client.bind_contract(own_contracts.rpc_url, "Factory", own_contracts.factory)
    with refused("NotExpectingTokenDeployment"):
        factory.functions.deployToken(configuration(own_contracts)).call({"from": SENDER})
    with refused("Unauthorized"):
        pool = (ZERO_ADDRESS, ZERO_ADDRESS, 0, 0, ZERO_ADDRESS)
        presale.functions.receiveTokens(configuration(own_contracts), pool, STRANGER, 1, 0).call({"from": STRANGER})


def test_a_sale_that_was_not_started_refuses_all_calls(presale: Contract) -> None:
    calls = presale.functions
    for call in (
        calls.buyIntoPresale(999),
        calls.withdrawFromPresale(999, 1, SENDER),
        calls.endPresale(999, bytes(32)),
        calls.claimTokens(999),
        calls.claimEth(999, SENDER),
        calls.amountAvailableToClaim(999, SENDER),
    ):
        with refused("InvalidPresale"):
            call.call({"from": SENDER})


def test_those_who_are_not_on_its_allowlist_may_not_buy(own_contracts: DevelopmentContracts, presale: Contract) -> None:
    entries = ((OTHER, 2 * ETHER), (SENDER, ETHER))
    presale_id = start(
        own_contracts,
        presale,
        allowlist=own_contracts.presale_allowlist,
        allowlistInitializationData=merkle_root(entries),
    )

    def buying(entry: tuple[str, int]) -> Any:
        proof = encode(["(uint256,bytes32[])"], [(entry[1], merkle_proof(entries, entry))])
        return presale.functions.buyIntoPresaleWithProof(presale_id, proof)

    with refused("InvalidProof"):
        buying(entries[0]).call({"from": STRANGER, "value": 1})
    with pytest.raises(ContractCustomError) as caught:
        buying(entries[1]).call({"from": SENDER, "value": ETHER + 1})
    exceeded = keccak(b"AllowlistAmountExceeded(uint256)")[:4] + encode(["uint256"], [ETHER])
    assert caught.value.data == "0x" + exceeded.hex()
    node_client.transact(own_contracts.rpc_url, buying(entries[0]), sender=OTHER, value=2 * ETHER)
    assert presale.functions.presaleBuys(presale_id, OTHER).call() == 2 * ETHER


# Sales that fail


def test_a_sale_that_ends_below_its_goal_gives_the_payments_back(
    own_contracts: DevelopmentContracts, presale: Contract
) -> None:
    presale_id = start(own_contracts, presale)
    buy(own_contracts, presale, presale_id, sender=OTHER, value=ETHER - 1)
    with refused("PresaleNotReadyForDeployment"):
        presale.functions.endPresale(presale_id, bytes(32)).call({"from": SENDER})

    let_pass(own_contracts, HOUR)
    with refused("PresaleNotActive"):
        presale.functions.buyIntoPresale(presale_id).call({"from": OTHER, "value": 1})
    with refused("PresaleNotReadyForDeployment"):
        presale.functions.endPresale(presale_id, bytes(32)).call({"from": SENDER})
    # No transaction has updated the contract yet.
    assert status(presale, presale_id) == ACTIVE
    with refused("InsufficientBalance"):
        presale.functions.withdrawFromPresale(presale_id, ETHER, OTHER).call({"from": OTHER})
    taken = presale.functions.withdrawFromPresale(presale_id, ETHER - 1, STRANGER)
    receipt = node_client.transact(own_contracts.rpc_url, taken, sender=OTHER)
    assert dict(events_of(own_contracts, receipt))["WithdrawFromPresale"]["ethRaised"] == 0
    assert status(presale, presale_id) == FAILED


def test_a_sale_whose_token_is_not_launched_in_time_fails(
    own_contracts: DevelopmentContracts, presale: Contract
) -> None:
    presale_id = start(own_contracts, presale)
    buy(own_contracts, presale, presale_id, sender=OTHER, value=ETHER)
    let_pass(own_contracts, HOUR + 3 * DAY + 1)

    receipt = node_client.transact(
        own_contracts.rpc_url, presale.functions.endPresale(presale_id, bytes(32)), sender=STRANGER
    )
    assert events_of(own_contracts, receipt) == [("PresaleFailed", {"presaleId": presale_id})]
    assert status(presale, presale_id) == FAILED
    node_client.transact(
        own_contracts.rpc_url, presale.functions.withdrawFromPresale(presale_id, ETHER, OTHER), sender=OTHER
    )


# Sales that end in a launch


def test_a_sale_goes_from_its_start_to_the_last_claim(own_contracts: DevelopmentContracts, presale: Contract) -> None:
    url = own_contracts.rpc_url
    presale_id = start(own_contracts, presale, vestingDuration=10 * DAY)
    buy(own_contracts, presale, presale_id, sender=OTHER, value=2 * ETHER)
    before = node_client.connect(url).eth.get_balance(STRANGER)
    # What is beyond the upper goal comes back at once.
    buy(own_contracts, presale, presale_id, sender=STRANGER, value=5 * ETHER)
    assert before - node_client.connect(url).eth.get_balance(STRANGER) < ETHER + ETHER // 100
    assert status(presale, presale_id) == MAXIMUM_HIT
    with refused("PresaleSuccessful"):
        presale.functions.withdrawFromPresale(presale_id, 1, OTHER).call({"from": OTHER})

    # The owner may launch at once, others a day after the sale.
    with refused("PresaleSaltBufferNotExpired"):
        presale.functions.endPresale(presale_id, bytes(32)).call({"from": OTHER})
    let_pass(own_contracts, HOUR + DAY)
    ended = node_client.transact(url, presale.functions.endPresale(presale_id, os.urandom(32)), sender=OTHER)
    events = events_of(own_contracts, ended)
    created = dict(events)["TokenCreated"]
    assert (created["msgSender"], created["tokenAdmin"]) == (own_contracts.presale, SENDER)
    assert created["extensions"] == [own_contracts.presale]
    assert events[-1] == ("PresaleDeployed", {"presaleId": presale_id, "token": created["tokenAddress"]})
    assert status(presale, presale_id) == CLAIMABLE
    with refused("PresaleNotReadyForDeployment"):
        presale.functions.endPresale(presale_id, bytes(32)).call({"from": SENDER})

    # Tokens: after the lockup, by and by, in proportion to the payments.
    with refused("PresaleLockupNotPassed"):
        presale.functions.claimTokens(presale_id).call({"from": OTHER})
    let_pass(own_contracts, 12 * DAY)
    half = presale.functions.amountAvailableToClaim(presale_id, OTHER).call()
    assert abs(half - TOKEN_SUPPLY // 2 * 2 // 3 // 2) < TOKEN_SUPPLY // 10**5
    let_pass(own_contracts, 5 * DAY)
    node_client.transact(url, presale.functions.claimTokens(presale_id), sender=OTHER)
    token = token_at(own_contracts, created["tokenAddress"])
    assert token.functions.balanceOf(OTHER).call() == TOKEN_SUPPLY // 2 * 2 * ETHER // (3 * ETHER)
    with refused("NoTokensToClaim"):
        presale.functions.claimTokens(presale_id).call({"from": OTHER})

    # Payments: to an address that the owner names, once, less a twentieth.
    with refused("Unauthorized"):
        presale.functions.claimEth(presale_id, OTHER).call({"from": OTHER})
    paid = node_client.transact(url, presale.functions.claimEth(presale_id, SENDER), sender=SENDER)
    (claimed,) = (values for _, values in events_of(own_contracts, paid))
    assert (claimed["ethAmount"], claimed["fee"]) == (3 * ETHER * 95 // 100, 3 * ETHER * 5 // 100)
    with refused("PresaleAlreadyClaimed"):
        presale.functions.claimEth(presale_id, SENDER).call({"from": SENDER})


def test_the_owner_ends_a_sale_early_from_the_lower_goal_on(
    own_contracts: DevelopmentContracts, presale: Contract
) -> None:
    presale_id = start(own_contracts, presale)
    with refused("PresaleNotClaimable"):
        presale.functions.claimEth(presale_id, SENDER).call({"from": SENDER})
    buy(own_contracts, presale, presale_id, sender=OTHER, value=ETHER)
    with refused("PresaleNotReadyForDeployment"):
        presale.functions.endPresale(presale_id, bytes(32)).call({"from": OTHER})
    node_client.transact(own_contracts.rpc_url, presale.functions.endPresale(presale_id, os.urandom(32)), sender=SENDER)
    assert status(presale, presale_id) == CLAIMABLE


@pytest.mark.parametrize(
    ("contract", "abi", "names"),
    [
        ("Presale", "presale", ["DEPLOYMENT_BAD_BUFFER", "presaleState", "startPresale"]),
        ("PresaleAllowlist", "presale_allowlist", ["allowlists"]),
    ],
)
def test_its_functions_have_the_layout_that_the_service_decodes(contract: str, abi: str, names: list[str]) -> None:
    declared = {item["name"]: item for item in load_artifact(contract).abi if item["type"] == "function"}
    known = {name: function for name, (function,) in codec.load_abi(abi).functions.items()}
    assert sorted(known) == names
    for name, function in known.items():
        assert types_of(declared[name]["inputs"]) == list(function.inputs.types), name
        assert types_of(declared[name]["outputs"]) == list(function.outputs.types), name
        assert [item["name"] for item in declared[name]["outputs"]] == list(function.outputs.names), name


def types_of(fields: list[dict[str, Any]]) -> list[str]:
    return [collapse_if_tuple(field) for field in fields]
