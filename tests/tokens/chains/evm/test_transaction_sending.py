"""tokens/chains/evm/transactions: simulation, fees, broadcast and outcome, on a real development node."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account as Key
from eth_utils.crypto import keccak

from development.devchain import node_client as devchain_node
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.launch_transactions import DevLaunchConfig, LaunchPurchase, deployment_config, native_value
from tests.nodes.devchain_launches import SENDER, UNKNOWN_HASH
from tests.nodes.devchain_tests import events_of
from tests.nodes.recordings import base
from tokens.chains.errors import NodeUnavailableError, SenderBalanceTooLowError, WouldRevertError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.transactions.dry_run import MAX_GAS
from tokens.chains.rpc.client import RpcClient
from tokens.chains.transaction_types import BroadcastStatus, ContractCall, FeeQuote

GWEI = 10**9
ETHER = 10**18
# Fresh wallets' balance.
RICH = 100 * ETHER


@dataclass(frozen=True)
class Bench:
    """A node whose blocks and mining are controlled by the tests."""

    url: str
    chain: Chain

    def rpc(self, method: str, *params: Any) -> Any:
        return devchain_node.connect(self.url).manager.request_blocking(method, list(params))

    def wallet(self, *, balance: int = RICH) -> "Wallet":
        key = Key.create()
        self.rpc("anvil_setBalance", key.address, hex(balance))
        return Wallet(key)

    def contract(self, code: str) -> str:
        """Return a contract's address with this code."""
        address: str = Key.create().address
        self.rpc("anvil_setCode", address, code)
        return address

    def mine(self) -> int:
        """Mine a block with the pending transactions and return its number."""
        self.rpc("evm_mine")
        return self.chain.read_head()


@dataclass(frozen=True)
class Signed:
    raw: bytes
    tx_hash: str


@dataclass(frozen=True)
class Wallet:
    key: Any

    @property
    def address(self) -> str:
        return str(self.key.address)

    def sign(self, nonce: int = 0, **changes: Any) -> Signed:
        """Sign a payment to the wallet itself, with these overrides."""
        transaction = {
            "type": 2,
            "chainId": CHAIN_ID,
            "nonce": nonce,
            "to": self.address,
            "value": 1,
            "gas": 21_000,
            "maxFeePerGas": 10 * GWEI,
            "maxPriorityFeePerGas": GWEI,
        }
        signed = self.key.sign_transaction(transaction | changes)
        return Signed(bytes(signed.raw_transaction), signed.hash.to_0x_hex())


def chain_at(*urls: str, **options: Any) -> Chain:
    # From the registry only the tip cap is read here.
    info = replace(base(), max_priority_fee_gwei=Decimal(10))
    return Chain(info=info, rpc=RpcClient(chain_id=CHAIN_ID, urls=urls, **options))


@pytest.fixture(scope="module")
def bench():
    with run_anvil() as url:
        made = Bench(url, chain_at(url))
        # Transactions stay pending until a test mines a block.
        made.rpc("evm_setAutomine", False)
        yield made


@pytest.fixture(scope="module")
def launchpad(deployment):
    """Return the chain that has the development contracts."""
    return chain_at(deployment.rpc_url)


def launch_call(deployment, **changes):
    """Return the call that launches a token, by SENDER."""
    config = replace(DevLaunchConfig(), **changes)
    factory = devchain_node.bind_contract(deployment.rpc_url, "Factory", deployment.factory)
    data = factory.encode_abi("deployToken", [deployment_config(deployment, config, sender=SENDER)])
    return ContractCall(to=deployment.factory, data=data, value=native_value(config))


def reverting(data: str) -> str:
    """Return the code of a contract that reverts with this data on every call."""
    length = f"{len(data) // 2 - 1:04x}"
    return f"0x61{length}600e60003961{length}6000fd{data[2:]}"


def words(text: str) -> str:
    """Return the revert data from `require` with this text."""
    return "0x08c379a0" + encode(["string"], [text]).hex()


# Simulations.


def test_a_simulation_returns_where_the_token_would_be_and_what_gas_it_takes(deployment, launchpad):
    call = launch_call(deployment, salt=keccak(text="simulated"))
    simulation = launchpad.simulate(call, sender=SENDER)
    sent = devchain_node.send_transaction(
        deployment.rpc_url, sender=SENDER, to=call.to, data=call.data, gas=simulation.gas
    )
    receipt = devchain_node.wait_for_receipt(deployment.rpc_url, sent)
    token = dict(events_of(deployment, receipt))["TokenCreated"]["tokenAddress"]
    assert simulation.output == "0x" + token[2:].lower().rjust(64, "0")
    assert receipt["gasUsed"] <= simulation.gas < MAX_GAS


def test_a_simulation_sends_nothing(deployment, launchpad):
    before = launchpad.read_accounts([SENDER])
    first, second = (
        launchpad.simulate(launch_call(deployment, salt=keccak(text="twice")), sender=SENDER) for _ in range(2)
    )
    assert first == second
    assert launchpad.read_accounts([SENDER]) == before


def test_a_simulation_sends_the_value_along(deployment, launchpad):
    call = launch_call(deployment, salt=keccak(text="bought"), own_buy=LaunchPurchase(recipient=SENDER, value=10**15))
    launchpad.simulate(call, sender=SENDER)
    with pytest.raises(WouldRevertError) as caught:
        launchpad.simulate(replace(call, value=10**15 - 1), sender=SENDER)
    assert caught.value.reason == "ExtensionMsgValueMismatch()"


def test_a_call_that_would_be_reverted_is_refused_with_the_contracts_error(deployment, launchpad):
    with pytest.raises(WouldRevertError, match=r"OnlyOriginatingChain\(\)") as caught:
        launchpad.simulate(launch_call(deployment, originating_chain_id=1), sender=SENDER)
    assert caught.value.reason == "OnlyOriginatingChain()"
    assert caught.value.data == "0x" + keccak(text="OnlyOriginatingChain()")[:4].hex()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (words("not today"), "Error(string): not today"),
        # A contract may revert with the words that nodes use for their own errors.
        (words("insufficient funds for gas * price + value"), "Error(string): insufficient funds for gas * price + v"),
        (words("rate limit exceeded"), "Error(string): rate limit exceeded"),
        ("0x4e487b71" + encode(["uint256"], [0x11]).hex(), "Panic(0x11): an overflow"),
        ("0xdeadbeef", "an unknown error 0xdeadbeef"),
        ("0x", "execution reverted"),
    ],
    ids=lambda value: value[:40],
)
def test_a_revert_is_one_whatever_the_contract_returns(bench, data, reason):
    call = ContractCall(to=bench.contract(reverting(data)), data="0x", value=0)
    with pytest.raises(WouldRevertError) as caught:
        bench.chain.simulate(call, sender=bench.wallet().address)
    assert caught.value.reason.startswith(reason)
    assert caught.value.data == data


def test_a_call_that_never_ends_is_refused(bench):
    call = ContractCall(to=bench.contract("0x5b600056"), data="0x", value=0)
    with pytest.raises(WouldRevertError, match="(?i)out ?of ?gas"):
        bench.chain.simulate(call, sender=bench.wallet().address)


def test_a_sender_that_has_less_than_the_value_is_no_revert(deployment, launchpad, bench):
    call = launch_call(deployment, salt=keccak(text="poor"), own_buy=LaunchPurchase(recipient=SENDER, value=10**15))
    with pytest.raises(SenderBalanceTooLowError):
        launchpad.simulate(call, sender=Key.create().address)
    poor = bench.wallet(balance=10)
    with pytest.raises(SenderBalanceTooLowError):
        bench.chain.simulate(ContractCall(to=poor.address, data="0x", value=11), sender=poor.address)
    assert bench.chain.simulate(ContractCall(to=poor.address, data="0x", value=10), sender=poor.address).gas == 21_000


def test_what_the_sender_has_waiting_makes_no_difference_to_a_simulation(bench):
    sender = bench.wallet(balance=ETHER)
    call = ContractCall(to=bench.contract(reverting("0x")[:-2] + "f3"), data="0x", value=ETHER // 2)
    simulated = bench.chain.simulate(call, sender=sender.address)
    bench.chain.broadcast([sender.sign(to=Key.create().address, value=ETHER * 9 // 10).raw])
    assert bench.chain.simulate(call, sender=sender.address) == simulated
    bench.mine()
    with pytest.raises(SenderBalanceTooLowError):
        bench.chain.simulate(call, sender=sender.address)


# Why a transaction was reverted.


def test_a_reverted_launch_is_explained_by_the_contracts_error(deployment, launchpad):
    call = launch_call(deployment, originating_chain_id=1)
    sent = devchain_node.send_transaction(deployment.rpc_url, sender=SENDER, to=call.to, data=call.data)
    receipt = devchain_node.connect(deployment.rpc_url).eth.wait_for_transaction_receipt(sent, poll_latency=0.005)
    block = receipt["blockNumber"]
    assert launchpad.explain_revert(call, sender=SENDER, block=block, gas=devchain_node.GAS) == "OnlyOriginatingChain()"


# If the slot is set, reverts with the calldata; else sets it.
ONCE = "0x600054600c576001600055005b366000600037366000fd"


def test_what_another_one_of_the_same_block_caused_is_explained(bench):
    sender = bench.wallet()
    call = ContractCall(to=bench.contract(ONCE), data=words("only once"), value=0)
    twice = [sender.sign(nonce, to=call.to, data=call.data, value=0, gas=100_000) for nonce in (0, 1)]
    bench.chain.broadcast([signed.raw for signed in twice])
    block = bench.mine()
    outcomes = bench.chain.read_outcomes([signed.tx_hash for signed in twice])
    assert [outcomes[signed.tx_hash].succeeded for signed in twice] == [True, False]
    explained = bench.chain.explain_revert(call, sender=sender.address, block=block, gas=100_000)
    assert explained == "Error(string): only once"


def test_gas_that_was_too_little_is_explained(bench):
    call = ContractCall(to=bench.contract("0x5b600056"), data="0x", value=0)
    explained = bench.chain.explain_revert(call, sender=bench.wallet().address, block=bench.mine(), gas=50_000)
    assert "outofgas" in explained.lower().replace(" ", "")


def test_what_does_not_fail_again_has_no_explanation(bench):
    wallet = bench.wallet()
    call = ContractCall(to=wallet.address, data="0x", value=0)
    block = bench.mine()
    assert bench.chain.explain_revert(call, sender=wallet.address, block=block, gas=21_000) == ""
    # Nor has a call at a block that no node has.
    assert bench.chain.explain_revert(call, sender=wallet.address, block=block + 1_000, gas=21_000) == ""


# Accounts, contracts and fees.


def test_accounts_are_read_with_nonce_and_balance(bench):
    rich, fresh = bench.wallet(balance=2**200), bench.wallet()
    bench.chain.broadcast([rich.sign(0).raw, rich.sign(1).raw])
    bench.mine()
    bench.chain.broadcast([rich.sign(2).raw])
    chain = chain_at(bench.url, batch_size=3)
    found = chain.read_accounts([rich.address, fresh.address])
    # Pending payments do not count.
    assert found[rich.address].nonce == 2
    assert 2**199 < found[rich.address].balance < 2**200
    assert (found[fresh.address].nonce, found[fresh.address].balance) == (0, RICH)
    assert chain.read_accounts([]) == {}


def test_contracts_and_decimals_are_distinguished_from_what_is_none(deployment, launchpad):
    assert launchpad.has_code(deployment.factory)
    assert not launchpad.has_code(SENDER)
    assert launchpad.read_decimals(deployment.usd) == 6
    assert launchpad.read_decimals(deployment.wrapped_native) == 18
    assert launchpad.read_decimals(deployment.factory) is None
    assert launchpad.read_decimals(SENDER) is None


def test_decimals_beyond_a_byte_are_none(bench):
    # Returns 256.
    assert bench.chain.read_decimals(bench.contract("0x61010060005260206000f3")) is None


def test_the_quote_is_enough_for_the_next_block(bench):
    # Anvil suggests a one gwei tip.
    for base_fee in (0, 1, 7, GWEI, 123_456_789_012):
        bench.rpc("anvil_setNextBlockBaseFeePerGas", hex(base_fee))
        bench.mine()
        quote = bench.chain.read_fees()
        assert quote == FeeQuote(base_fee=base_fee + (base_fee + 7) // 8, priority_fee=GWEI)
    bench.rpc("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
    bench.mine()


# Broadcasts and their outcomes.


def verdicts(sent):
    return [one.status for one in sent]


def test_a_transaction_is_taken_then_known_then_its_nonce_spent(bench):
    signed = bench.wallet().sign()
    assert verdicts(bench.chain.broadcast([signed.raw])) == [BroadcastStatus.ACCEPTED]
    assert verdicts(bench.chain.broadcast([signed.raw])) == [BroadcastStatus.ALREADY_KNOWN]
    bench.mine()
    assert verdicts(bench.chain.broadcast([signed.raw])) == [BroadcastStatus.NONCE_SPENT]


def test_another_one_with_its_nonce_must_pay_more(bench):
    wallet = bench.wallet()
    bench.chain.broadcast([wallet.sign().raw])
    same = wallet.sign(value=2)
    assert verdicts(bench.chain.broadcast([same.raw])) == [BroadcastStatus.UNDERPRICED]
    more = wallet.sign(value=2, maxFeePerGas=11_250_000_000, maxPriorityFeePerGas=1_125_000_000)
    assert verdicts(bench.chain.broadcast([more.raw])) == [BroadcastStatus.ACCEPTED]
    bench.mine()
    assert list(bench.chain.read_outcomes([more.tx_hash, same.tx_hash])) == [more.tx_hash]


def test_each_of_many_gets_its_own_verdict_in_order(bench):
    wallet, poor = bench.wallet(), bench.wallet(balance=1)
    known, spent, later = wallet.sign(1), wallet.sign(0), wallet.sign(7)
    bench.chain.broadcast([spent.raw])
    bench.mine()
    bench.chain.broadcast([known.raw])
    expected = {
        "known": (known, BroadcastStatus.ALREADY_KNOWN),
        "spent": (spent, BroadcastStatus.NONCE_SPENT),
        "above a gap": (later, BroadcastStatus.ACCEPTED),
        "below the base fee": (wallet.sign(2, maxFeePerGas=1, maxPriorityFeePerGas=1), BroadcastStatus.FEE_TOO_LOW),
        "too poor": (poor.sign(), BroadcastStatus.INSUFFICIENT_FUNDS),
        "more than it has": (wallet.sign(2, value=10**30), BroadcastStatus.INSUFFICIENT_FUNDS),
        "another chain's": (wallet.sign(2, chainId=1), BroadcastStatus.REJECTED),
        "too little gas": (wallet.sign(2, gas=20_000), BroadcastStatus.REJECTED),
        "more gas than a block has": (wallet.sign(2, gas=40_000_000), BroadcastStatus.REJECTED),
        "a tip above its fee": (wallet.sign(2, maxPriorityFeePerGas=11 * GWEI), BroadcastStatus.REJECTED),
        "cut short": (Signed(known.raw[:-1], ""), BroadcastStatus.REJECTED),
        "nothing": (Signed(b"", ""), BroadcastStatus.REJECTED),
        "taken": (wallet.sign(2), BroadcastStatus.ACCEPTED),
    }
    chain = chain_at(bench.url, batch_size=4)
    sent = chain.broadcast([signed.raw for signed, _ in expected.values()])
    verdict_by_name = dict(zip(expected, verdicts(sent), strict=True))
    assert verdict_by_name == {name: verdict for name, (_, verdict) in expected.items()}
    assert chain.broadcast([]) == []


def test_an_outcome_has_what_it_cost_and_where_it_is(bench):
    wallet = bench.wallet()
    revert = bench.contract(reverting("0x"))
    paid = wallet.sign(0)
    failed = wallet.sign(1, to=revert, value=0, gas=50_000)
    waiting = wallet.sign(3)
    bench.chain.broadcast([paid.raw, failed.raw, waiting.raw])
    number = bench.mine()
    expected = [paid.tx_hash, UNKNOWN_HASH, waiting.tx_hash, failed.tx_hash]
    outcomes = chain_at(bench.url, batch_size=2).read_outcomes(expected)
    assert list(outcomes) == [paid.tx_hash, failed.tx_hash]
    assert bench.chain.find_outcomes(expected) == outcomes
    block = bench.chain.read_newest_header()
    for outcome in outcomes.values():
        assert (outcome.block_number, outcome.block_hash) == (number, block.hash)
    assert (outcomes[paid.tx_hash].succeeded, outcomes[failed.tx_hash].succeeded) == (True, False)
    left = bench.chain.read_accounts([wallet.address])[wallet.address].balance
    assert RICH - left == sum(outcome.gas_used * outcome.gas_price for outcome in outcomes.values())


def test_a_dropped_block_takes_the_outcome_with_it(bench):
    mark = bench.rpc("evm_snapshot")
    signed = bench.wallet().sign()
    bench.chain.broadcast([signed.raw])
    bench.mine()
    assert bench.chain.read_outcomes([signed.tx_hash])
    bench.rpc("evm_revert", mark)
    assert bench.chain.read_outcomes([signed.tx_hash]) == bench.chain.find_outcomes([signed.tx_hash]) == {}


def test_without_a_node_nothing_is_known():
    chain = chain_at(attempts=1)
    assert verdicts(chain.broadcast([b"\x02"])) == [BroadcastStatus.UNKNOWN]
    for read_state in (
        lambda: chain.simulate(ContractCall(to=SENDER, data="0x", value=0), sender=SENDER),
        lambda: chain.read_accounts([SENDER]),
        lambda: chain.read_outcomes([UNKNOWN_HASH]),
        lambda: chain.find_outcomes([UNKNOWN_HASH]),
        lambda: chain.has_code(SENDER),
        lambda: chain.read_decimals(SENDER),
        chain.read_fees,
    ):
        with pytest.raises(NodeUnavailableError):
            read_state()
    assert chain.explain_revert(ContractCall(to=SENDER, data="0x", value=0), sender=SENDER, block=1, gas=21_000) == ""
