"""All trusted contracts' events: each is followed, or listed here with the reason why not."""

import re
from pathlib import Path

import pytest
from sha3 import keccak_256

from tests.nodes.recordings import base
from tokens.chains.abi import codec
from tokens.chains.evm.logs.log_decoding import launch_topics, own_topics
from tokens.chains.evm.logs.pair_logs import PAIR_TOPICS
from tokens.chains.evm.logs.pool_logs import POOL_TOPICS
from tokens.chains.evm.logs.swap_fees import FEE_TOPICS
from tokens.chains.registry.entry_rules import EMITTING_ROLES, ROLES

GUIDE = Path(__file__).parents[5] / "docs" / "chains.md"
ABIS = sorted(path.stem for path in Path(codec.__file__).with_name("json").glob("*.json"))

# Reason -> events, by the published ABIs. A new event belongs here, or into `abi/json/after_launch.json`.
_REASONS = {
    "a setting of the contract; launches and changes of tokens have events of their own": (
        "ClankerDeployerUpdated(address,address)",
        "LiquidityLockerUpdated(address,address)",
        "VaultUpdated(address,address)",
        "SetDeprecated(bool)",
        "SetExtension(address,bool)",
        "SetHook(address,bool)",
        "SetLocker(address,address,bool)",
        "SetMevModule(address,bool)",
        "AddDepositor(address)",
        "MinimumVaultTimeUpdated(uint256,uint256)",
        "SetBlocksBetweenAuction(uint256,uint256)",
        "SetBlocksBetweenDeploymentAndFirstAuction(uint256,uint256)",
        "SetMaxRounds(uint256,uint256)",
        "SetPaymentPerGasUnit(uint256,uint256)",
        "ClankerDefaultFeeUpdated(uint256,uint256)",
        "ClankerFeeRecipientUpdated(address,address)",
        "ClankerFeeUpdatedForPresale(uint256,uint256,uint256)",
        "MinLockupDurationUpdated(uint256,uint256)",
        "SetAllowlist(address,bool)",
        "SetPoolExtension(address,bool)",
    ),
    "each extension has an event of its own in the launch": ("ExtensionTriggered(address,uint256,uint256)",),
    "administration of the contract, of which the record has no field": (
        "SetAdmin(address,bool)",
        "OwnershipTransferred(address,address)",
        "SetTeamSpender(address,address)",
        "SetTokenCreatorRoot(bytes32)",
    ),
    "the recipient is in `ClaimTeamFees`": ("SetTeamFeeRecipient(address,address)",),
    "read with its launch; balances are not stored": ("Transfer(address,address,uint256)",),
    "of the ERC-20 standards; balances and votes are not stored": (
        "Approval(address,address,uint256)",
        "DelegateChanged(address,address,address)",
        "DelegateVotesChanged(address,uint256,uint256)",
        "EIP712DomainChanged()",
    ),
    "the record has the supply of the launch": (
        "CrosschainMint(address,uint256,address)",
        "CrosschainBurn(address,uint256,address)",
    ),
    "the launch names its locker": ("deployed(address,address,uint256,uint256)",),
    "the record has the locker of the launch": ("ERC721Released(address,uint256)",),
    "the record has no duration of the lock": ("LockDuration(uint256)",),
    "the launch names the position": (
        "LockId(uint256)",
        "Received(address,uint256)",
    ),
    "the team is no recipient of the record; a claim names it": (
        "TeamOverrideRewardRecipientUpdated(uint256,address,address)",
        "TeamRecipientUpdated(address,address)",
    ),
    "read with its launch, from the transaction in full": (
        "TokenRewardAdded(uint256,uint256,address,address)",
        "PoolCreatedFactory(address,address,bytes32,int24,int24,address,address)",
        "AllocationCreated(address,address,uint256,uint256)",
        "PairCreated(address,address,address,uint256)",
        "PoolCreated(address,address,uint24,int24,address)",
        "Initialize(uint160,int24)",
    ),
    "pays nothing yet; `get-uncollected-fees` reads the balance": (
        "StoreTokens(address,address,address,uint256,uint256)",
    ),
    "the account that may claim returned fees is no field of the record; the claim names its recipient": (
        "InitializeTokenCreator(address,address,address)",
        "UpdateTokenCreator(address,address,address)",
    ),
    "the unclaimed rest returns to the admin; the record has the amount of the launch": (
        "AirdropAdminClaimed(address,uint256)",
    ),
    "trading in a pool, of which the record has no field": (
        "EstimatedTickDifference(int24,int24)",
        "MevModuleDisabled(bytes32)",
        "MevModuleSetFee(bytes32,uint24)",
        "PoolExtensionSuccess(bytes32)",
        "PoolExtensionFailed(bytes32,(bool,int256,uint160))",
        "DecayPeriodOver(bytes32)",
    ),
    "a pool of any account, which is no launch": ("PoolCreatedOpen(address,address,bytes32,int24,int24)",),
    "moves the team's share to the factory, which pays it by `ClaimTeamFees`": ("ClaimProtocolFees(address,uint256)",),
    "the record has no extension of the pool": ("PoolExtensionRegistered(bytes32,address)",),
    "the auction of a pool; what it pays arrives as `StoreTokens`": (
        "AuctionInitialized(bytes32,uint256,uint256,uint256)",
        "AuctionWon(bytes32,address,uint256,uint256)",
        "AuctionRewardsTransferred(bytes32,uint256,uint256)",
        "AuctionReset(bytes32,uint256,uint256,uint256)",
        "AuctionEnded(bytes32)",
        "AuctionExpired(bytes32,uint256)",
    ),
    "a presale before its launch, of a generation that has no more launches": (
        "PreSaleCreated(uint256,uint256,uint256,uint256,address,uint256,string,string,uint256,string)",
    ),
    "a presale before its launch, which is no token yet; deployments read its state from the chain": (
        (
            "PresaleStarted(uint256,address,((address,string,string,bytes32,string,string,string,uint256),(a"
            "ddress,address,int24,int24,bytes),(address,address[],address[],uint16[],int24[],int24[],uint16["
            "],bytes),(address,bytes),(address,uint256,uint16,bytes)[]),uint256,uint256,uint256,address,uint"
            "256,uint256,uint256)"
        ),
        "PresaleBuy(uint256,address,uint256,uint256)",
        "WithdrawFromPresale(uint256,address,uint256,uint256)",
        "PresaleFailed(uint256)",
    ),
    "a purchase of the presale, no fee": ("ClaimTokens(uint256,address,uint256)",),
    "the proceeds of the presale, no fee of trading": ("ClaimEth(uint256,address,uint256,uint256)",),
    "a fee of the presale, no fee of trading": ("WithdrawWithdrawFee(address,uint256)",),
    "the first price of a pool, which only the check of feeds reads": (
        "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
    ),
    "the allow-list of a presale, which is read from the chain": (
        "Initialize(uint256,address,bytes32)",
        "SetAddressOverride(uint256,address,uint256)",
        "SetAllowlistEnabled(uint256,bool)",
        "SetMerkleRoot(uint256,bytes32)",
    ),
}
NOT_FOLLOWED = {signature: reason for reason, signatures in _REASONS.items() for signature in signatures}


def topic_of(signature: str) -> str:
    return "0x" + keccak_256(signature.encode()).hexdigest()


FOLLOWED = launch_topics(base()) | own_topics(base()) | POOL_TOPICS | PAIR_TOPICS | FEE_TOPICS
UNFOLLOWED = {topic_of(signature) for signature in NOT_FOLLOWED}


def described() -> list[list[str]]:
    """Return the cells in the guide's table: event, contract, generation, first topic bytes, followed or why."""
    text = GUIDE.read_text(encoding="utf-8").partition("## Events\n")[2].partition("\n## ")[0]
    return [
        list(cells) for cells in re.findall(r"^\| `(.+?)` \| (.+?) \| (.+?) \| `(.+?)` \| (.+) \|$", text, re.MULTILINE)
    ]


@pytest.mark.parametrize("name", ABIS)
def test_each_event_of_our_abis_is_followed_or_listed(name):
    events = [event for overloads in codec.load_abi(name).events.values() for event in overloads]
    assert [event.signature for event in events if event.topic0 not in FOLLOWED | UNFOLLOWED] == []


def test_no_event_is_both_followed_and_listed():
    assert FOLLOWED.isdisjoint(UNFOLLOWED)


def test_the_guide_has_each_event_with_its_topic_and_reason():
    rows = described()
    assert [topic for signature, _, _, topic, _ in rows] == [topic_of(signature)[:10] for signature, *_ in rows]
    assert {topic_of(signature) for signature, *_ in rows} == FOLLOWED | UNFOLLOWED
    assert len({signature for signature, *_ in rows}) == len(rows)
    reasons = {signature: reason for signature, *_, reason in rows if reason != "yes"}
    assert {signature: reason.removeprefix("no: ") for signature, reason in reasons.items()} == NOT_FOLLOWED


def test_followed_events_are_of_contracts_whose_logs_are_requested():
    for signature, contract, _, _, followed in described():
        roles = set(contract.split(", ")) & set(ROLES)
        if followed == "yes" and topic_of(signature) not in own_topics(base()) | POOL_TOPICS | PAIR_TOPICS | FEE_TOPICS:
            assert roles and roles <= EMITTING_ROLES, signature
