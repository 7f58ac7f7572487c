"""GET /api/get-uncollected-fees/{address}: fees against the payout of a collection on the development chain."""

import os

import pytest
from web3.exceptions import ContractLogicError

from development.devchain import node_client
from development.devchain.launch_transactions import DevLaunchConfig, Recipient
from tests.development.devchain.test_devchain_changes import STRANGER, accrue, available
from tests.nodes.devchain_tests import OTHER, SENDER, events_of, launch_token
from tokens.chains.token_fees import sum_shares
from tokens.installation.installed_chains import installed_chain

# Unused elsewhere: no other test stores fees for them.
FIRST, SECOND, THIRD = ("0x" + digit * 40 for digit in "123")
POSITIONS = ((-230_400, -214_000, 1_000), (-214_000, -155_000, 5_000), (-155_000, -120_000, 4_000))


@pytest.fixture
def launch(launchpad):
    """Return a function that launches a token for recipients, and returns it with a function that reads its fees."""

    def launch(*recipients, positions=()):
        deployment = launchpad.deployment
        shares = tuple(Recipient(admin=SENDER, recipient=who, bps=bps, wants=wants) for who, bps, wants in recipients)
        config = DevLaunchConfig(salt=os.urandom(32), recipients=shares, positions=positions)
        token = launch_token(deployment, config)
        chain = installed_chain(launchpad.chain_id)

        def read(owner=None):
            return chain.read_v4_fees(token, locker=deployment.locker, owner=owner)

        return token, read

    return launch


@pytest.fixture
def collect(deployment):
    """Return a function that collects a token's fees on chain and returns the decoded events."""

    def collect(token):
        locker = node_client.bind_contract(deployment.rpc_url, "Locker", deployment.locker)
        receipt = node_client.transact(deployment.rpc_url, locker.functions.collectRewards(token), sender=STRANGER)
        return events_of(deployment, receipt)

    return collect


def buy(deployment, token):
    """Swap an ether for the token, so that its pool has both currencies, and the locker can convert either."""
    locker = node_client.bind_contract(deployment.rpc_url, "Locker", deployment.locker).functions
    router = node_client.bind_contract(deployment.rpc_url, "SwapRouter", deployment.swap_router).functions
    _, key, *_ = locker.tokenRewards(token).call()
    swap = router.swap(key, deployment.wrapped_native, 10**18, 0)
    node_client.transact(deployment.rpc_url, swap, sender=SENDER, value=10**18)


def by_owner(fees):
    """Return (owner, currency) -> the pending amount."""
    return {
        (share.recipient, currency.address): amount
        for share in fees.shares
        for currency, amount in zip(fees.currencies, share.pending, strict=True)
    }


def harvest(fees):
    return {
        (share.recipient, currency.address): amount
        for share in fees.shares
        for currency, amount in zip(fees.currencies, share.harvested, strict=True)
    }


def paid(events):
    """Return (owner, currency) -> the amount that the fee locker received for them."""
    found = {}
    for name, values in events:
        if name == "StoreTokens":
            key = (values["feeOwner"], values["token"])
            found[key] = found.get(key, 0) + values["amount"]
    return found


def without_zeros(amounts):
    return {key: amount for key, amount in amounts.items() if amount}


CASES = {
    "one": [(FIRST, 10_000, "Both")],
    "three who keep both": [(FIRST, 3_333, "Both"), (SECOND, 3_333, "Both"), (THIRD, 3_334, "Both")],
    "one place twice": [(FIRST, 1_234, "Both"), (SECOND, 5_000, "Both"), (FIRST, 3_766, "Both")],
    "one wants the pair": [(FIRST, 10_000, "Paired")],
    "one wants the token": [(FIRST, 10_000, "Clanker")],
    "all three wishes": [(FIRST, 3_333, "Paired"), (SECOND, 3_333, "Clanker"), (THIRD, 3_334, "Both")],
    "the last one keeps": [(FIRST, 4_001, "Both"), (SECOND, 1_999, "Paired"), (THIRD, 4_000, "Both")],
    "two swap together": [(FIRST, 2_501, "Paired"), (SECOND, 2_500, "Both"), (THIRD, 4_999, "Paired")],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("positions", [(), POSITIONS], ids=["one position", "three positions"])
def test_what_is_pending_is_what_a_collection_pays(launch, collect, deployment, name, positions):
    token, read = launch(*CASES[name], positions=positions)
    buy(deployment, token)
    accrue(deployment, token, paired=1_000_000_000_000_007, launched=33_333_333_333_333_333_331)
    before = read()
    events = collect(token)
    after = read()

    assert paid(events) == without_zeros(by_owner(before))
    assert sum(paid(events).values()) > 0
    assert before.conversion == ("none" if all(wants == "Both" for _, _, wants in CASES[name]) else "simulated")
    grown = {key: amount - harvest(before)[key] for key, amount in harvest(after).items()}
    assert without_zeros(grown) == paid(events)
    assert harvest(after) == {key: available(deployment, *key) for key in harvest(after)}
    # A conversion pays the pool's fee, as every swap: the next collection pays that.
    assert paid(collect(token)) == without_zeros(by_owner(after))
    assert (by_owner(after) == dict.fromkeys(by_owner(after), 0)) == (before.conversion == "none")


@pytest.mark.parametrize(("pair_fees", "token_fees"), [(7, 0), (0, 7), (1, 1)])
def test_dust_is_divided_as_the_locker_divides_it(launch, collect, deployment, pair_fees, token_fees):
    token, read = launch((FIRST, 3_333, "Both"), (SECOND, 6_667, "Both"))
    accrue(deployment, token, paired=pair_fees, launched=token_fees)
    before = read()
    assert sum_shares(before.shares).pending in [(pair_fees, token_fees), (token_fees, pair_fees)]
    assert paid(collect(token)) == without_zeros(by_owner(before))


def test_only_growth_since_the_last_collection_counts(launch, collect, deployment):
    token, read = launch((FIRST, 10_000, "Both"))
    for amount in (10**15, 3):
        accrue(deployment, token, paired=amount, launched=0)
        assert sum_shares(read().shares).pending in [(amount, 0), (0, amount)]
        collect(token)
    assert sum_shares(read().shares).pending == (0, 0)


def test_only_a_currency_that_has_fees_is_swapped(launch, collect, deployment):
    token, read = launch((FIRST, 5_000, "Paired"), (SECOND, 5_000, "Both"))
    accrue(deployment, token, paired=10**15, launched=0)
    before = read()
    assert before.conversion == "none"
    assert paid(collect(token)) == without_zeros(by_owner(before))


def test_nothing_is_pending_where_a_collection_reverts(launch, collect, deployment):
    token, read = launch((FIRST, 5_000, "Paired"), (SECOND, 5_000, "Both"))
    # Without a purchase the pool has none of the currency that the first recipient wants.
    accrue(deployment, token, paired=0, launched=10**18)
    with pytest.raises((ContractLogicError, node_client.TransactionRevertedError)):
        collect(token)
    fees = read()
    assert (by_owner(fees), fees.conversion) == (dict.fromkeys(by_owner(fees), 0), "none")


def test_the_recipients_of_the_fees_are_the_chains_present_ones(launch, collect, deployment):
    token, read = launch((FIRST, 4_000, "Both"), (SECOND, 6_000, "Both"))
    accrue(deployment, token, paired=10_000, launched=0)
    collect(token)
    locker = node_client.bind_contract(deployment.rpc_url, "Locker", deployment.locker).functions
    node_client.transact(deployment.rpc_url, locker.updateRewardRecipient(token, 0, OTHER), sender=SENDER)
    node_client.transact(deployment.rpc_url, locker.updateFeePreference(token, 1, 2), sender=SENDER)
    accrue(deployment, token, paired=20_000, launched=0)

    fees = read(owner=FIRST)

    assert [share.recipient for share in fees.shares] == [OTHER, SECOND, FIRST]
    assert fees.conversion == "simulated"
    # The owner gets no more, and the unclaimed amount stays.
    weth = deployment.wrapped_native
    assert fees.shares[-1].pending == (0, 0)
    assert harvest(fees)[FIRST, weth] == available(deployment, FIRST, weth) >= 4_000
    assert paid(collect(token)) == without_zeros(by_owner(fees))


@pytest.mark.django_db
def test_the_endpoint_returns_it_of_an_indexed_token(client, read_key, index_key, launchpad, collect, deployment):
    recipients = (
        Recipient(admin=SENDER, recipient=FIRST, bps=2_500, wants="Paired"),
        Recipient(admin=SENDER, recipient=SECOND, bps=7_500),
    )
    body = {"txHash": launchpad.launch(recipients=recipients), "chainId": launchpad.chain_id}
    indexed = client.post("/api/tokens/index", body, content_type="application/json", headers=index_key)
    token = indexed.json()["address"]
    buy(deployment, token)
    accrue(deployment, token, paired=10**15 + 1, launched=10**25 + 1)

    answer = client.get(f"/api/get-uncollected-fees/{token}", headers=read_key).json()
    second = client.get(f"/api/get-uncollected-fees/{token}", {"recipient": SECOND}, headers=read_key).json()

    pending_by_owner = {
        (each["recipient"], waiting["currency"]): int(waiting["pending"])
        for each in answer["recipients"]
        for waiting in each["fees"]
    }
    events = collect(token)
    assert paid(events) == without_zeros(pending_by_owner)
    assert answer["conversion"] == "simulated"
    sums = {waiting["currency"]: int(waiting["pending"]) for waiting in answer["fees"]}
    assert sums == {
        currency: sum(amount for (_, paid_in), amount in paid(events).items() if paid_in == currency)
        for currency in sums
    }
    assert second["recipients"] == answer["recipients"][1:]
    assert second["fees"] == second["recipients"][0]["fees"]


def test_it_names_the_block_that_it_is_of(launch, launchpad):
    _, read = launch((FIRST, 10_000, "Both"))
    assert read().block_number == launchpad.web3.eth.block_number
