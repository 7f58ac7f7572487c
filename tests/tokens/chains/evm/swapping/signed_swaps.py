"""Swaps by a wallet of the test's own: offers from the chain library, their very bytes signed and mined."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from eth_account import Account
from eth_account.signers.local import LocalAccount
from web3 import Web3
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from tests.nodes.devchain_tests import SENDER
from tokens.chains.errors import CallWouldRevertError, SwapUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.swapping.routes import NATIVE_COIN, SwapPool, find_route
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.swapping.swap_quotes import SwapTerms

ETHER = 10**18
# Far beyond every simulated block.
DEADLINE = 2**40
_GAS_PRICE = 10**10


@dataclass(kw_only=True)
class SwapWallet:
    """A wallet with a key that only the test has, on a chain of the test."""

    chain: Chain
    url: str
    account: LocalAccount = field(default_factory=Account.create)

    def __post_init__(self) -> None:
        self.set_coins(1_000_000 * ETHER)

    @property
    def address(self) -> str:
        return str(self.account.address)

    @property
    def web3(self) -> Web3:
        return node_client.connect(self.url)

    def set_coins(self, wei: int) -> None:
        self.request("anvil_setBalance", self.address, hex(wei))

    def request(self, method: str, *params: Any) -> Any:
        return self.web3.manager.request_blocking(RPCEndpoint(method), list(params))

    def offer(
        self,
        pool: SwapPool,
        token: str,
        *,
        is_purchase: bool,
        is_exact_in: bool,
        amount: int,
        is_native: bool = True,
        slippage_bps: int = 100,
        deadline: int = DEADLINE,
    ) -> SwapOffer:
        """Return the offer for a purchase or a sale of the token."""
        wrapped = self.chain.info.wrapped_native
        route = find_route(pool, token=token, is_purchase=is_purchase, is_native=is_native, wrapped_native=wrapped)
        terms = SwapTerms(
            route=route, is_exact_in=is_exact_in, amount=amount, slippage_bps=slippage_bps, deadline=deadline
        )
        return self.chain.offer_swap(terms, payer=self.address)

    def mine(self, offer: SwapOffer, *, time: int | None = None) -> list[Any]:
        """Sign each call, and mine all in one block at the simulation's time; return the receipts."""
        nonce = self.web3.eth.get_transaction_count(self.address)
        self.request("evm_setAutomine", False)
        try:
            hashes = [
                self.web3.eth.send_raw_transaction(self._sign(call, nonce + index))
                for index, call in enumerate(offer.calls)
            ]
            self.request("evm_setNextBlockTimestamp", time or offer.simulation.time)
            self.request("evm_mine")
        finally:
            self.request("evm_setAutomine", True)
        return [self.web3.eth.get_transaction_receipt(tx_hash) for tx_hash in hashes]

    def _sign(self, call: Any, nonce: int) -> bytes:
        transaction = {
            "to": call.to,
            "data": call.data,
            "value": call.value,
            "nonce": nonce,
            "gas": 6_000_000,
            "maxFeePerGas": _GAS_PRICE,
            "maxPriorityFeePerGas": 1,
            "chainId": self.web3.eth.chain_id,
        }
        return bytes(self.account.sign_transaction(transaction).raw_transaction)

    def balance(self, currency: str) -> int:
        if currency == NATIVE_COIN:
            return self.web3.eth.get_balance(Web3.to_checksum_address(self.address))
        amount: int = node_client.bind_contract(self.url, "Token", currency).functions.balanceOf(self.address).call()
        return amount

    def mined_changes(self, offer: SwapOffer, currencies: tuple[str, str], *, time: int | None = None) -> list[int]:
        """Mine the offer; return what the wallet gained in each currency, without the gas that it paid."""
        before = [self.balance(currency) for currency in currencies]
        receipts = self.mine(offer, time=time)
        assert [receipt["status"] for receipt in receipts] == [1] * len(offer.calls)
        gas = sum(receipt["gasUsed"] * receipt["effectiveGasPrice"] for receipt in receipts)
        after = [self.balance(currency) + (gas if currency == NATIVE_COIN else 0) for currency in currencies]
        return [now - earlier for now, earlier in zip(after, before, strict=True)]


def draw_amount(random: Random, *, largest: int) -> int:
    """Draw an amount between 1 and the largest one, each order of magnitude as likely as the others."""
    return min(largest, max(1, int(largest ** random.random() * random.uniform(0.5, 1))))


def swap_at_random(
    wallet: SwapWallet, pools: list[tuple[SwapPool, str]], random: Random, *, count: int
) -> Counter[str]:
    """Make random swaps, each mined from the offered bytes; count offers by kind, and refusals by reason."""
    outcomes = Counter[str]()
    for _ in range(count):
        pool, token = random.choice(pools)
        paired = next(each for each in pool.currencies if each != token)
        is_purchase, is_exact_in = random.random() < 0.5, random.random() < 0.5
        is_native = paired == wallet.chain.info.wrapped_native and random.random() < 0.6
        # Up to a thousand times what the pool holds, and what wallets own.
        largest = 10**23 if is_purchase == is_exact_in else 10**32
        if not is_purchase and is_exact_in and random.random() < 0.8:
            largest = wallet.balance(token) or largest
        currency = NATIVE_COIN if is_native else paired
        currencies = (currency, token) if is_purchase else (token, currency)
        amount = draw_amount(random, largest=largest)
        try:
            offer = wallet.offer(
                pool, token, is_purchase=is_purchase, is_exact_in=is_exact_in, is_native=is_native, amount=amount
            )
        except (SwapUnavailableError, CallWouldRevertError) as error:
            outcomes[f"refused: {str(error)[:70]}"] += 1
            continue
        assert wallet.mined_changes(offer, currencies) == [-offer.quote.amount_in, offer.quote.amount_out]
        assert amount == (offer.quote.amount_in if is_exact_in else offer.quote.amount_out)
        assert router_balance(wallet, pool) == 0
        outcomes[f"{'buy' if is_purchase else 'sell'} exact {'in' if is_exact_in else 'out'}"] += 1
    return outcomes


def router_balance(wallet: SwapWallet, pool: SwapPool) -> int:
    """Return what the router has left, coins included; whatever it has, any caller may take."""
    router = wallet.chain.info.universal_router or ""
    tokens = (node_client.bind_contract(wallet.url, "Token", each) for each in pool.currencies if each != NATIVE_COIN)
    return wallet.web3.eth.get_balance(router) + sum(each.functions.balanceOf(router).call() for each in tokens)


def fund(wallet: SwapWallet, at: DevelopmentContracts, *, amount: int) -> None:
    """Give the wallet wrapped coins, and dollars."""
    native = node_client.bind_contract(wallet.url, "WrappedNative", at.wrapped_native)
    node_client.transact(wallet.url, native.functions.deposit(), sender=SENDER, value=amount)
    node_client.transact(wallet.url, native.functions.transfer(wallet.address, amount), sender=SENDER)
    usd = node_client.bind_contract(wallet.url, "UsdStandIn", at.usd)
    node_client.transact(wallet.url, usd.functions.mint(wallet.address, 10**24), sender=SENDER)
