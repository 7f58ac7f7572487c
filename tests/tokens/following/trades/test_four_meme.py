"""four.meme as it is built in, with contracts at its addresses that emit its events: its code is unpublished.

Topics and what amounts mean come from readers that compared them with receipts: a buyer pays cost and fee, and a
seller gets cost without fee.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from eth_abi.abi import encode

from tests.nodes.devchain_tests import OTHER, SENDER
from tests.nodes.followed import Followed
from tests.nodes.relay import relay
from tests.tokens.following.trades.test_malformed_curve_logs import EMITTER, Emitters
from tokens.chains.pool_types import select_pools
from tokens.chains.registry import chains
from tokens.installation.installed_registry import registry
from tokens.market.trading.trade_pages import fetch_trade_page, find_traded_token, parse_trade_cursor
from tokens.models import PoolTrade, Token

pytestmark = pytest.mark.django_db

MANAGER = "0x5c952063c7fc8610FFDB798152D69F0B9550762b"
HELPER = "0xF251F83e40a78868FcfA3FA4599Dad6494E46034"
TOPICS = {
    "TokenCreate": "0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20",
    "TokenPurchase": "0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942",
    "TokenSale": "0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19",
}
CREATED = "TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)"
BOUGHT, SOLD = (f"{name}(address,address,uint256,uint256,uint256,uint256,uint256,uint256)" for name in list(TOPICS)[1:])
ETHER = 10**18


class Manager(Emitters):
    """TokenManager2, and the helper that returns a token's quote token."""

    def __init__(self, launchpad, quote):
        super().__init__(launchpad.deployment.rpc_url)
        # EMITTER's part behind its constructor.
        launchpad.rpc("anvil_setCode", MANAGER, f"0x{EMITTER[24:]}")
        # The helper returns twelve words; the third is the quote token.
        launchpad.rpc("anvil_setCode", HELPER, f"0x73{quote[2:]}60405261018060 00f3".replace(" ", ""))

    def create(self, token):
        types = ["address", "address", "uint256", "string", "string", "uint256", "uint256", "uint256"]
        return self.emit(MANAGER, CREATED, encode(types, [SENDER, token, 7, "Four", "4", 10**27, 0, 0]))

    def trade(self, signature, token, *, price, amount, cost, fee):
        values = [token, OTHER, price, amount, cost, fee, 0, 0]
        return self.emit(MANAGER, signature, encode(["address"] * 2 + ["uint256"] * 6, values))


@pytest.fixture
def install(own_launchpad, settings, forget_chains, tmp_path):
    def installed(quote):
        file = tmp_path / "own.toml"
        text = Path(chains.__file__).with_name("launchpads.toml").read_text()
        file.write_text(text.replace("{ 56 = ", f"{{ {own_launchpad.chain_id} = "))
        settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(file))
        settings.LAUNCHPADS = {own_launchpad.chain_id: ("fourmeme",)}
        forget_chains()
        followed = Followed(own_launchpad.chain_id)
        followed.catch_up()
        return Manager(own_launchpad, quote), followed

    return installed


def test_events_are_those_of_the_chain():
    launchpad = registry().launchpads["fourmeme"]
    events = [launchpad.launches[0].event, *(trade.event for trade in launchpad.trades)]
    assert {event.signature.partition("(")[0]: event.topic0 for event in events} == TOPICS
    assert registry().chain(56).declared["fourmeme"] is launchpad


def test_trades_of_all_tokens_are_read_once_by_contract_and_topic(own_launchpad, install):
    """The launch is in the range: its curve, the contract for all tokens, is no pool that has to be read after it."""
    manager, followed = install("0x" + "00" * 20)
    token, own = own_launchpad.deployment.wrapped_native, select_pools([])
    manager.create(token)
    for each in (token, own_launchpad.deployment.usd):
        manager.trade(BOUGHT, each, price=1, amount=ETHER, cost=ETHER, fee=1)
    chain, received = followed.head.chain, []
    with relay(own_launchpad.deployment.rpc_url, before=received.append) as url:
        first, last = followed.head.last.number + 1, own_launchpad.web3.eth.block_number
        facts = replace(chain, rpc=replace(chain.rpc, urls=(url,))).read_range(first, last, pools=own)
    assert len(facts.transactions) == 1
    assert [swap.pool for swap in facts.swaps] == [token, own_launchpad.deployment.usd]
    calls = [call for body in received for call in (body if isinstance(body, list) else [body])]
    queries = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
    (of_trades,) = [query for query in queries if TOPICS["TokenSale"] in query["topics"][0]]
    assert of_trades["address"] == [MANAGER.lower()]
    assert of_trades["topics"] == [sorted([TOPICS["TokenPurchase"], TOPICS["TokenSale"]])]


@pytest.mark.parametrize("is_native", [True, False], ids=["native", "token"])
def test_its_launches_and_trades(own_launchpad, install, is_native):
    at = own_launchpad.deployment
    manager, followed = install("0x" + "00" * 20 if is_native else at.usd)
    token = at.wrapped_native
    launched = manager.create(token)
    # 6 gwei in the quote token for a whole token.
    manager.trade(BOUGHT, token, price=6 * 10**9, amount=10**6 * ETHER, cost=6 * 10**15, fee=6 * 10**13)
    manager.trade(SOLD, token, price=5 * 10**9, amount=10**5 * ETHER, cost=5 * 10**14, fee=5 * 10**12)
    # The same contract emits the same logs about tokens that are not indexed.
    manager.trade(BOUGHT, at.usd, price=1, amount=ETHER, cost=ETHER, fee=1)
    followed.catch_up()
    row = Token.objects.get(tx_hash=launched)
    assert (row.contract_address, row.name, row.symbol, row.admin) == (token, "Four", "4", SENDER)
    assert (row.pool_address, row.generation, row.pair) == (token, "fourmeme", "ETH" if is_native else "USDC")
    assert PoolTrade.objects.count() == 2
    traded = find_traded_token(own_launchpad.chain_id, token)
    sale, purchase = fetch_trade_page(traded, limit=10, cursor=parse_trade_cursor(None)).trades
    assert [(trade["side"], trade["amountToken"], trade["trader"]) for trade in (purchase, sale)] == [
        ("buy", str(10**6 * ETHER), OTHER),
        ("sell", str(10**5 * ETHER), OTHER),
    ]
    assert [trade["amountQuote"] for trade in (purchase, sale)] == [str(606 * 10**13), str(495 * 10**12)]
    assert [trade["poolAmountQuote"] for trade in (purchase, sale)] == [str(6 * 10**15), str(5 * 10**14)]
    first = PoolTrade.objects.order_by("position").first()
    assert float(first.price) == pytest.approx(6 * 10**9 / 10 ** (18 if is_native else 6))
