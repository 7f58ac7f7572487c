"""Launched tokens on the development chain: changes by admins, fees and claims."""

import os

import pytest

from development.devchain import node_client
from development.devchain.airdrop_tree import merkle_proof
from development.devchain.deploy_contracts import OWNER, DevelopmentContracts
from development.devchain.launch_transactions import (
    DAY,
    TOKEN_SUPPLY,
    DevAirdropShare,
    DevLaunchConfig,
    DevVaultShare,
    Recipient,
)
from tests.nodes.devchain_tests import OTHER, SENDER, STRANGER, events_of, launch_token, let_pass, refused, token_at


def test_only_its_admin_changes_a_token(deployment: DevelopmentContracts) -> None:
    token = token_at(deployment, launch_token(deployment, DevLaunchConfig(salt=os.urandom(32))))
    for change in (
        token.functions.updateImage("x"),
        token.functions.updateMetadata("x"),
        token.functions.updateAdmin(STRANGER),
    ):
        with refused("NotAdmin"):
            change.call({"from": STRANGER})
    with refused("NotOriginalAdmin"):
        token.functions.verify().call({"from": STRANGER})


def test_an_admin_changes_image_and_metadata_and_hands_over(deployment: DevelopmentContracts) -> None:
    url = deployment.rpc_url
    token = token_at(deployment, launch_token(deployment, DevLaunchConfig(salt=os.urandom(32))))

    seen = []
    for change, sender in (
        (token.functions.updateImage("ipfs://new"), SENDER),
        (token.functions.updateAdmin(OTHER), SENDER),
        (token.functions.updateMetadata('{"description":"new"}'), OTHER),
        (token.functions.verify(), SENDER),
    ):
        seen += events_of(deployment, node_client.transact(url, change, sender=sender))

    assert seen == [
        ("UpdateImage", {"image": "ipfs://new"}),
        ("UpdateAdmin", {"oldAdmin": SENDER, "newAdmin": OTHER}),
        ("UpdateMetadata", {"metadata": '{"description":"new"}'}),
        ("Verified", {"admin": SENDER, "token": token.address}),
    ]
    assert token.functions.allData().call()[:4] == [SENDER, OTHER, "ipfs://new", '{"description":"new"}']
    assert token.functions.isVerified().call() is True


def test_a_share_of_the_fees_answers_to_its_own_admin(deployment: DevelopmentContracts) -> None:
    url = deployment.rpc_url
    recipients = tuple(Recipient(admin=who, recipient=who, bps=5_000) for who in (SENDER, OTHER))
    token = launch_token(deployment, DevLaunchConfig(salt=os.urandom(32), recipients=recipients))
    change = node_client.bind_contract(url, "Locker", deployment.locker).functions
    with refused("Unauthorized"):
        change.updateRewardRecipient(token, 1, STRANGER).call({"from": SENDER})
    with refused("ZeroRewardAddress"):
        change.updateRewardAdmin(token, 1, "0x" + "00" * 20).call({"from": OTHER})

    seen = []
    for call in (
        change.updateRewardRecipient(token, 1, STRANGER),
        change.updateFeePreference(token, 1, 2),
        change.updateRewardAdmin(token, 1, STRANGER),
    ):
        seen += events_of(deployment, node_client.transact(url, call, sender=OTHER))

    share = {"token": token, "rewardIndex": 1}
    assert seen == [
        ("RewardRecipientUpdated", {**share, "oldRecipient": OTHER, "newRecipient": STRANGER}),
        ("FeePreferenceUpdated", {**share, "oldFeePreference": 0, "newFeePreference": 2}),
        ("RewardAdminUpdated", {**share, "oldAdmin": OTHER, "newAdmin": STRANGER}),
    ]


def test_fees_are_split_stored_and_claimed(deployment: DevelopmentContracts) -> None:
    url, weth = deployment.rpc_url, deployment.wrapped_native
    recipients = tuple(
        Recipient(admin=SENDER, recipient=who, bps=bps) for who, bps in ((OTHER, 7_500), (STRANGER, 2_500))
    )
    token = launch_token(deployment, DevLaunchConfig(salt=os.urandom(32), recipients=recipients))
    accrue(deployment, token, paired=10_001, launched=4_000)
    locker = node_client.bind_contract(url, "Locker", deployment.locker)
    before = available(deployment, OTHER, weth)

    collected = events_of(
        deployment, node_client.transact(url, locker.functions.collectRewards(token), sender=STRANGER)
    )

    stored = [
        (values["sender"], values["feeOwner"], values["token"], values["amount"])
        for name, values in collected
        if name == "StoreTokens"
    ]
    assert sorted(stored) == sorted(
        [
            (deployment.locker, OTHER, weth, 7_500),
            (deployment.locker, STRANGER, weth, 2_501),
            (deployment.locker, OTHER, token, 3_000),
            (deployment.locker, STRANGER, token, 1_000),
        ]
    )
    paired, own = (10_001, [7_500, 2_501]), (4_000, [3_000, 1_000])
    (amount0, rewards0), (amount1, rewards1) = (own, paired) if token.lower() < weth.lower() else (paired, own)
    claimed = {"token": token, "amount0": amount0, "amount1": amount1, "rewards0": rewards0, "rewards1": rewards1}
    assert collected[-1] == ("ClaimedRewards", claimed)
    assert available(deployment, OTHER, weth) == before + 7_500

    fee_locker = node_client.bind_contract(url, "FeeLocker", deployment.fee_locker)
    receipt = node_client.transact(url, fee_locker.functions.claim(OTHER, token), sender=STRANGER)

    assert events_of(deployment, receipt)[-1] == (
        "ClaimTokens",
        {"feeOwner": OTHER, "token": token, "amountClaimed": 3_000},
    )
    assert token_at(deployment, token).functions.balanceOf(OTHER).call() == 3_000
    assert available(deployment, OTHER, token) == 0


def test_a_recipient_gets_the_preferred_currency(deployment: DevelopmentContracts) -> None:
    url, weth = deployment.rpc_url, deployment.wrapped_native
    recipients = (
        Recipient(admin=SENDER, recipient=OTHER, bps=6_000, wants="Clanker"),
        Recipient(admin=SENDER, recipient=STRANGER, bps=4_000, wants="Both"),
    )
    token = launch_token(deployment, DevLaunchConfig(salt=os.urandom(32), recipients=recipients))
    accrue(deployment, token, paired=10**15, launched=0)
    locker = node_client.bind_contract(url, "Locker", deployment.locker)

    events = dict(
        events_of(deployment, node_client.transact(url, locker.functions.collectRewards(token), sender=SENDER))
    )

    swapped = events["FeesSwapped"]
    assert (swapped["token"], swapped["rewardToken"], swapped["swappedToken"]) == (token, weth, token)
    assert swapped["amountSwapped"] == 6 * 10**14
    assert swapped["amountOut"] == available(deployment, OTHER, token)
    # Fees of fees: 1 % for the positions, and a fifth of it for the launchpad.
    assert swapped["amountOut"] == pytest.approx(6 * 10**14 * 1.0001**230_400 * 0.99 / 1.002, rel=1e-3)


def test_dollar_fees_are_taken_by_allowance(deployment: DevelopmentContracts) -> None:
    url = deployment.rpc_url
    config = DevLaunchConfig(salt=os.urandom(32), paired_token=deployment.usd, tick=-424_400)
    token = launch_token(deployment, config)
    usd = node_client.bind_contract(url, "UsdStandIn", deployment.usd)
    node_client.transact(url, usd.functions.mint(SENDER, 500), sender=SENDER)
    node_client.transact(url, usd.functions.approve(deployment.locker, 500), sender=SENDER)
    locker = node_client.bind_contract(url, "Locker", deployment.locker)
    amounts = (0, 500) if token.lower() < deployment.usd.lower() else (500, 0)
    with refused("InvalidSwapFeeValue"):
        locker.functions.simulateSwapFees(token, *amounts).call({"from": SENDER, "value": 1})

    node_client.transact(url, locker.functions.simulateSwapFees(token, *amounts), sender=SENDER)
    node_client.transact(url, locker.functions.collectRewards(token), sender=SENDER)

    assert available(deployment, SENDER, deployment.usd) == 500


def test_the_team_takes_what_the_factory_holds(own_contracts: DevelopmentContracts) -> None:
    usd = node_client.bind_contract(own_contracts.rpc_url, "UsdStandIn", own_contracts.usd)
    node_client.transact(own_contracts.rpc_url, usd.functions.mint(own_contracts.factory, 7), sender=SENDER)
    factory = node_client.bind_contract(own_contracts.rpc_url, "Factory", own_contracts.factory)

    receipt = node_client.transact(
        own_contracts.rpc_url, factory.functions.claimTeamFees(own_contracts.usd), sender=OWNER
    )

    claimed = {"token": own_contracts.usd, "recipient": OWNER, "amount": 7}
    assert events_of(own_contracts, receipt)[-1] == ("ClaimTeamFees", claimed)


def test_a_vault_pays_out_as_it_vests(own_contracts: DevelopmentContracts) -> None:
    url = own_contracts.rpc_url
    share = DevVaultShare(admin=OTHER, bps=1_000, lockup=7 * DAY, vesting=10 * DAY)
    token = launch_token(own_contracts, DevLaunchConfig(salt=os.urandom(32), vault=share))
    vault = node_client.bind_contract(url, "Vault", own_contracts.vault)
    with refused("NoBalanceToClaim"):
        vault.functions.claim(token).call({"from": STRANGER})
    with refused("Unauthorized"):
        vault.functions.editAllocationAdmin(token, STRANGER).call({"from": SENDER})
    edited = events_of(
        own_contracts, node_client.transact(url, vault.functions.editAllocationAdmin(token, STRANGER), sender=OTHER)
    )
    assert edited == [("AllocationAdminUpdated", {"token": token, "oldAdmin": OTHER, "newAdmin": STRANGER})]

    let_pass(own_contracts, 12 * DAY)
    _, (name, half) = events_of(own_contracts, node_client.transact(url, vault.functions.claim(token), sender=SENDER))
    let_pass(own_contracts, 6 * DAY)
    _, (_, rest) = events_of(own_contracts, node_client.transact(url, vault.functions.claim(token), sender=SENDER))

    assert name == "AllocationClaimed"
    assert half["amount"] == pytest.approx(TOKEN_SUPPLY // 20, rel=1e-4)
    assert rest == {"token": token, "amount": half["remainingAmount"], "remainingAmount": 0}
    assert token_at(own_contracts, token).functions.balanceOf(STRANGER).call() == TOKEN_SUPPLY // 10


def test_an_airdrop_pays_every_claim_with_a_proof(own_contracts: DevelopmentContracts) -> None:
    url = own_contracts.rpc_url
    # Three entries make a tree that is not full.
    entries = ((OTHER, 10**26), (STRANGER, 5 * 10**25), (SENDER, 10**26))
    token = launch_token(
        own_contracts,
        DevLaunchConfig(salt=os.urandom(32), airdrop=DevAirdropShare(admin=SENDER, entries=entries, vesting=0)),
    )
    airdrop = node_client.bind_contract(url, "Airdrop", own_contracts.airdrop)
    proofs = {entry: merkle_proof(entries, entry) for entry in entries}
    claim = airdrop.functions.claim(token, *entries[1], proofs[entries[1]])
    with refused("AirdropNotUnlocked"):
        claim.call({"from": SENDER})
    with refused("InvalidProof"):
        airdrop.functions.claim(token, STRANGER, 6 * 10**25, proofs[entries[1]]).call({"from": SENDER})

    let_pass(own_contracts, DAY)
    for entry in entries:
        bound = airdrop.functions.claim(token, *entry, proofs[entry])
        _, claimed = events_of(own_contracts, node_client.transact(url, bound, sender=SENDER))
        paid = {"token": token, "user": entry[0], "totalUserAmountClaimed": entry[1], "userAmountStillLocked": 0}
        assert claimed == ("AirdropClaimed", paid)
    with refused("NothingToClaim"):
        claim.call({"from": SENDER})


def test_an_open_airdrop_gets_its_root_once_and_is_swept_at_the_end(own_contracts: DevelopmentContracts) -> None:
    url = own_contracts.rpc_url
    airdrop_share = DevAirdropShare(admin=SENDER, bps=100, lockup=DAY, vesting=DAY)
    token = launch_token(own_contracts, DevLaunchConfig(salt=os.urandom(32), airdrop=airdrop_share))
    change = node_client.bind_contract(url, "Airdrop", own_contracts.airdrop).functions
    node_client.transact(url, change.updateMerkleRoot(token, b"\x01" * 32), sender=SENDER)
    with refused("MerkleRootAlreadySet"):
        change.updateMerkleRoot(token, b"\x02" * 32).call({"from": SENDER})
    with refused("AdminClaimTooEarly"):
        change.adminClaim(token, OTHER).call({"from": SENDER})
    node_client.transact(url, change.updateAdmin(token, OTHER), sender=SENDER)

    let_pass(own_contracts, 16 * DAY)
    node_client.transact(url, change.adminClaim(token, OTHER), sender=OTHER)

    assert token_at(own_contracts, token).functions.balanceOf(OTHER).call() == TOKEN_SUPPLY // 100
    with refused("AirdropClosed"):
        change.claim(token, SENDER, 1, []).call({"from": SENDER})


def accrue(deployment: DevelopmentContracts, token: str, *, paired: int, launched: int) -> None:
    """Make the pool of a token owe fees, paid by SENDER in native currency."""
    first = token.lower() < deployment.wrapped_native.lower()
    locker = node_client.bind_contract(deployment.rpc_url, "Locker", deployment.locker)
    amounts = (launched, paired) if first else (paired, launched)
    node_client.transact(
        deployment.rpc_url, locker.functions.simulateSwapFees(token, *amounts), sender=SENDER, value=paired
    )


def available(deployment: DevelopmentContracts, owner: str, currency: str) -> int:
    fee_locker = node_client.bind_contract(deployment.rpc_url, "FeeLocker", deployment.fee_locker)
    amount: int = fee_locker.functions.availableFees(owner, currency).call()
    return amount
