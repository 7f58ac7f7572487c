"""A declared launchpad on the development chain, followed: a bonding curve, its graduation, and its pool."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.anvil import LAUNCHPADS_FILE
from tests.nodes.devchain_tests import OTHER, SENDER
from tests.nodes.followed import Followed
from tests.nodes.following_chain import control
from tests.rows.fee_sums import sum_chain
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.following.coverage import open_live_coverage
from tokens.following.history import read_history
from tokens.following.verifying.verification import verify_coverage
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain
from tokens.market.trading.trade_pages import fetch_trade_page, find_traded_token, parse_trade_cursor
from tokens.models import Candle, FeeClaim, Market, PoolTrade, Token, TokenDocument, TokenEvent, TokenPool

pytestmark = pytest.mark.django_db

ETHER = 10**18
SUPPLY = 10**9 * ETHER
URI = "data:application/json,{}"


class Curves:
    """The development chain's curves, and what its contracts return."""

    def __init__(self, launchpad: Any) -> None:
        self.launchpad, self.at = launchpad, launchpad.deployment

    def call(self, function: str, *arguments: Any, sender: str = SENDER, value: int = 0) -> Any:
        """Call the launchpad, and return the receipt."""
        return self._send("CurveLaunchpad", self.at.curve_launchpad, function, arguments, sender=sender, value=value)

    def launch(self, name: str, *, value: int = 0) -> str:
        receipt = self.call("launch", name, name[:4].upper(), URI, value=value)
        return str(self._event("Launched", receipt)["token"])

    def buy(self, token: str, value: int) -> None:
        self.call("buy", token, 0, sender=OTHER, value=value)

    def sell(self, token: str, amount: int) -> None:
        self.approve(token, amount)
        self.sell_approved(token, amount)

    def approve(self, token: str, amount: int) -> None:
        self._send("Token", token, "approve", [self.at.curve_launchpad, amount], sender=OTHER)

    def sell_approved(self, token: str, amount: int) -> None:
        self.call("sell", token, amount, 0, sender=OTHER)

    def time_of(self, name: str) -> datetime:
        """Return the block time for the only event with this name."""
        contract = node_client.bind_contract(self.at.rpc_url, "CurveLaunchpad", self.at.curve_launchpad)
        (event,) = contract.events[name]().get_logs(from_block=0)
        return datetime.fromtimestamp(self.launchpad.web3.eth.get_block(event["blockHash"])["timestamp"], UTC)

    def native(self, owner: str) -> int:
        return self.launchpad.web3.eth.get_balance(owner)

    def gas_of_last_block(self, sender: str) -> int:
        """Return what an account paid for gas in the newest block."""
        eth = self.launchpad.web3.eth
        hashes = eth.get_block("latest")["transactions"]
        receipts = [eth.get_transaction_receipt(tx_hash) for tx_hash in hashes]
        return sum(each["gasUsed"] * each["effectiveGasPrice"] for each in receipts if each["from"] == sender)

    def swap(self, token: str, value: int) -> None:
        """Buy in a graduated token's pool."""
        low, high = sorted((token, self.at.wrapped_native), key=str.lower)
        key = (low, high, 10_000, 200, "0x" + "00" * 20)
        arguments = [key, self.at.wrapped_native, value, 0]
        self._send("SwapRouter", self.at.swap_router, "swap", arguments, sender=OTHER, value=value)

    def balance(self, token: str, owner: str) -> int:
        held: int = node_client.bind_contract(self.at.rpc_url, "Token", token).functions.balanceOf(owner).call()
        return held

    def _event(self, name: str, receipt: Any) -> Any:
        contract = node_client.bind_contract(self.at.rpc_url, "CurveLaunchpad", self.at.curve_launchpad)
        (event,) = contract.events[name]().process_receipt(receipt, errors=DISCARD)
        return event["args"]

    def _send(self, name: str, to: str, function: str, arguments: Any, *, sender: str, value: int = 0) -> Any:
        url = self.at.rpc_url
        data = node_client.bind_contract(url, name, to).encode_abi(function, list(arguments))
        tx_hash = node_client.send_transaction(url, sender=sender, to=to, data=data, value=value)
        return node_client.wait_for_receipt(url, tx_hash)


@pytest.fixture
def curves(own_launchpad, settings, forget_chains):
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(LAUNCHPADS_FILE))
    settings.LAUNCHPADS = {own_launchpad.chain_id: ("curve",)}
    settings.FOLLOW_FROM = {own_launchpad.chain_id: 0}
    forget_chains()
    return Curves(own_launchpad)


@pytest.fixture
def followed(curves):
    head = Followed(curves.launchpad.chain_id)
    head.catch_up()
    return head


def amounts(token: str) -> list[int]:
    """Return what a token's stored trades moved to its traders."""
    trades = PoolTrade.objects.filter(token__contract_address=token).order_by("position")
    return [trade.amount_token if trade.is_buy else -trade.amount_token for trade in trades]


def test_trades_with_a_curve_are_those_of_its_traders(curves, followed):
    token = curves.launch("Curve", value=ETHER // 10)
    curves.buy(token, ETHER)
    bought = curves.balance(token, OTHER)
    curves.sell(token, bought // 3)
    followed.catch_up()
    row = Token.objects.get(contract_address=token)
    assert (row.generation, row.name, row.symbol, row.admin) == ("curve", "Curve", "CURV", SENDER)
    assert (row.pool_address, row.pair, row.supply, row.decimals) == (token, "ETH", SUPPLY, 18)
    assert TokenDocument.objects.get(token=row).uri == URI
    assert amounts(token) == [curves.balance(token, SENDER), bought, -(bought // 3)]
    first = PoolTrade.objects.order_by("position").first()
    # The creator gets 1 % of the sent value.
    assert first.amount_quote == ETHER // 10 * 99 // 100
    # The curve's reserves have a constant product: 1,066,666,667 tokens and one ether.
    reserve = 1 + Decimal("0.099")
    assert first.price == pytest.approx(reserve * reserve / 1_066_666_667, rel=Decimal("1e-15"))
    market = Market.objects.get(token=row)
    assert market.price_usd == pytest.approx(float(market.price_quote) * 3_000, rel=0.01)
    assert (market.tx_count_24h, market.liquidity_usd) == (3, None)
    assert Candle.objects.filter(token=row).exists()


def test_trades_are_what_traders_paid_and_got(curves, followed):
    """Check with the launchpad's fees, by native balances without gas."""
    token, moved = curves.launch("Paid"), []

    def counted(act):
        before = curves.native(OTHER)
        act()
        moved.append(curves.native(OTHER) - before + curves.gas_of_last_block(OTHER))

    counted(lambda: curves.buy(token, ETHER + 7))
    sold = curves.balance(token, OTHER) // 3
    curves.approve(token, sold)
    counted(lambda: curves.sell_approved(token, sold))
    followed.catch_up()
    traded = find_traded_token(curves.launchpad.chain_id, token)
    sale, purchase = fetch_trade_page(traded, limit=10, cursor=parse_trade_cursor(None)).trades
    assert [-int(purchase["amountQuote"]), int(sale["amountQuote"])] == moved
    assert int(purchase["protocolFee"]) == int(purchase["poolAmountQuote"]) // 99
    assert (sale["tokenFee"], int(sale["amountToken"])) == ("0", sold)


def graduations(client: Client) -> list[tuple[bool, str | None, str | None]]:
    """Return whether and when launches have graduated, or why that is unknown, from their creator's ledger."""
    launches = client.get(f"/api/creators/{SENDER}").json()["data"]["launches"]
    names = ("graduated", "graduatedReason", "graduatedAt")
    return [tuple(launch["outcome"][name] for name in names) for launch in launches]


def test_a_token_keeps_its_history_in_the_pool_that_it_graduates_into(curves, followed, client):
    token = curves.launch("Graduate")
    curves.buy(token, ETHER)
    followed.catch_up()
    mark = curves.launchpad.snapshot()
    # The curve's whole remaining supply; the rest of the value comes back.
    curves.buy(token, 5 * ETHER)
    before = curves.balance(token, OTHER)
    assert before == 8 * SUPPLY // 10
    curves.swap(token, ETHER // 10)
    followed.catch_up()
    row = Token.objects.get(contract_address=token)
    assert len(row.pool_address) == 66
    pools = {pool.pool_address: pool.is_currency0 for pool in row.pools.all()}
    assert pools == {token: None, row.pool_address: token.lower() < curves.at.wrapped_native.lower()}
    assert [sum(amounts(token)[:2]), amounts(token)[2:]] == [before, [curves.balance(token, OTHER) - before]]
    second, third = PoolTrade.objects.order_by("position")[1:]
    # The pool goes on where the curve ended.
    assert second.price < third.price < second.price * Decimal("1.1")
    market = Market.objects.get(token=row)
    assert market.liquidity_usd > 2 * 3 * 2_900
    assert (market.graduated_at, market.curve_progress) == (curves.time_of("Graduated"), 100)
    for language, graduated in (("de", "Graduiert"), ("zh-hans", "已毕业")):
        assert graduated in client.get(f"/{language}/tokens/{row.chain_id}/{token}").text
    page = client.get(f"/tokens/{row.chain_id}/{token}").text
    assert page.count('<span class="chip good">Graduated</span>') == 2
    assert f"</span> {market.graduated_at:%Y-%m-%d %H:%M} UTC" in page
    assert '<span class="chip good">Graduated</span>' in client.get("/").text
    assert graduations(client) == [(True, None, f"{market.graduated_at:%Y-%m-%dT%H:%M:%S}.000Z")]

    curves.launchpad.revert(mark)
    curves.buy(token, ETHER // 10)
    followed.catch_up()
    row.refresh_from_db()
    assert (row.pool_address, TokenPool.objects.exists()) == (token, False)
    assert sum(amounts(token)) == curves.balance(token, OTHER)
    market.refresh_from_db()
    assert (market.graduated_at, market.curve_progress) == (None, None)
    page = client.get(f"/tokens/{row.chain_id}/{token}").text
    assert "The token trades on a bonding curve" in page
    assert "Graduated" not in page and "How far the token is" not in page
    assert graduations(client) == [(False, None, None)]


def test_changes_of_a_declared_launchpad_are_its_tokens(curves, followed):
    token, other = curves.launch("Changed"), curves.launch("Other")
    curves.call("updateCreator", token, OTHER)
    curves.call("updateUri", other, "https://new.example/token.json")
    followed.catch_up()
    rows = {row.contract_address: row for row in Token.objects.select_related("document")}
    assert (rows[token].admin, rows[token].document.uri) == (OTHER, URI)
    assert (rows[other].admin, rows[other].document.uri) == (SENDER, "https://new.example/token.json")


def test_claims_of_a_declared_launchpad_are_what_the_creator_got(curves, followed, client):
    token, other = curves.launch("Claimed"), curves.launch("Unclaimed")
    curves.buy(token, ETHER)
    curves.buy(other, ETHER)
    followed.catch_up()
    mark, before = curves.launchpad.snapshot(), curves.native(SENDER)
    receipt = curves.call("claimFees", token)
    followed.catch_up()
    got = curves.native(SENDER) - before + receipt["gasUsed"] * receipt["effectiveGasPrice"]
    (claim,) = FeeClaim.objects.select_related("event__token")
    assert (claim.event.token.contract_address, claim.recipient, claim.currency) == (token, SENDER, ZERO_ADDRESS)
    assert got == claim.amount == ETHER // 100
    page = client.get(f"/tokens/{curves.launchpad.chain_id}/{token}").text
    assert '<li>0.0100 <bdi>ETH</bdi> <span class="soft">in 1 payment</span></li>' in page
    assert "Paid so far" not in client.get(f"/tokens/{curves.launchpad.chain_id}/{other}").text

    curves.launchpad.revert(mark)
    curves.buy(token, ETHER)
    followed.catch_up()
    assert not FeeClaim.objects.exists()
    curves.call("claimFees", token)
    followed.catch_up()
    assert int(FeeClaim.objects.get().amount) == 2 * ETHER // 100


def test_the_ledger_of_a_new_creator_has_what_the_chain_paid_it(curves, followed, client):
    token = curves.launch("Handed over")
    curves.buy(token, ETHER)
    curves.call("claimFees", token)
    curves.call("updateCreator", token, OTHER)
    curves.buy(token, 2 * ETHER)
    curves.call("claimFees", token, sender=OTHER)
    followed.catch_up()
    read_all(curves.launchpad.chain_id)
    sum_chain(curves.launchpad.chain_id)
    for account, own, amount in ((SENDER, "launches", ETHER // 100), (OTHER, "recipientOf", 2 * ETHER // 100)):
        ledger = client.get(f"/api/creators/{account}").json()["data"]
        (entry,) = ledger[own]
        assert entry["token"]["contract_address"] == token
        claims = [each["claimed"]["amount"] for each in entry["fees"] if each["recipient"] == account]
        assert sorted(claims) == ["0", str(amount)]
        # Sums from other chains are not complete.
        (wallet,) = [each for each in ledger["claimed"] if each["chainId"] == curves.launchpad.chain_id]
        assert (wallet["currency"], wallet["symbol"], wallet["decimals"]) == (ZERO_ADDRESS, "ETH", 18)
        assert wallet["claimed"]["amount"] == str(amount)


def read_all(chain_id: int) -> None:
    """Read all blocks as final ones, beside the head."""
    chain = installed_chain(chain_id)
    last = chain.read_head()
    for row in open_live_coverage(chain.info, final=last):
        for _ in read_history(row, chain=chain, target=lambda: last, control=control()):
            pass


def verify_all(chain_id: int) -> list[Any]:
    """Verify all blocks that are followed, and return the runs."""
    chain = installed_chain(chain_id)
    last = chain.read_head()
    rows = open_live_coverage(chain.info, final=last)
    return [
        run
        for row in rows
        for run in verify_coverage(row, chain=chain, alternate=chain, target=lambda: last, control=control())
    ]


def stored_rows() -> dict[str, list[Any]]:
    """Return all rows that blocks made."""
    tokens = ("pk", "unindexed", "generation", "admin", "pool_address", "tx_hash", "block_hash", "supply")
    trades = ("position", "is_buy", "is_conversion", "amount_token", "amount_quote", "price", "protocol_fee")
    return {
        "tokens": list(Token.objects.order_by("pk").values_list(*tokens)),
        "trades": list(PoolTrade.objects.order_by("position").values_list(*trades)),
        "events": list(TokenEvent.objects.order_by("pk").values_list("pk", "kind", "arguments")),
        "claims": list(FeeClaim.objects.order_by("pk").values_list("amount", "recipient")),
        "pools": list(TokenPool.objects.order_by("pool_address").values_list("pool_address", "is_currency0")),
    }


@pytest.mark.parametrize("is_declared", [True, False], ids=["table kept", "table gone"])
def test_rows_of_a_launchpad_that_is_switched_off_stay(curves, followed, settings, forget_chains, is_declared):
    """Check verification after the switch, later trades in the pool, and the launchpad on again."""
    chain_id = curves.launchpad.chain_id
    token, still_curve = curves.launch("Graduate"), curves.launch("Curve", value=ETHER // 10)
    curves.buy(token, 5 * ETHER)
    curves.swap(token, ETHER // 10)
    curves.call("updateCreator", still_curve, OTHER)
    curves.call("claimFees", token)
    followed.catch_up()
    read_all(chain_id)
    before, launchpads = stored_rows(), settings.LAUNCHPADS
    assert [len(rows) for rows in before.values()] == [2, 3, 3, 1, 2]

    settings.LAUNCHPADS = {chain_id: ("clanker",)}
    files = settings.CHAINS_FILES
    if not is_declared:
        settings.CHAINS_FILES = files[:-1]
    forget_chains()
    runs = verify_all(chain_id)
    assert [(run.missing, run.invented, run.corrected, run.kept) for run in runs] == [(0, 0, 0, 0)]
    assert stored_rows() == before
    launched = Token.objects.get(contract_address=token)
    hashes = (launched.tx_hash, launched.events.order_by("pk").last().tx_hash)
    assert [index_transaction(chain_id=chain_id, tx_hash=each) for each in hashes] == [(token,), (token,)]
    assert stored_rows() == before
    held = curves.balance(token, OTHER)
    curves.swap(token, ETHER // 10)
    curves.buy(still_curve, ETHER // 10)
    followed.restart()
    followed.catch_up()
    read_all(chain_id)
    assert all((run.missing, run.invented, run.corrected) == (0, 0, 0) for run in verify_all(chain_id))
    assert {name: rows[: len(before[name])] for name, rows in stored_rows().items()} == before
    last = PoolTrade.objects.order_by("position").last()
    assert (last.is_buy, last.amount_token) == (True, curves.balance(token, OTHER) - held)

    settings.LAUNCHPADS, settings.CHAINS_FILES = launchpads, files
    forget_chains()
    followed.restart()
    read_all(chain_id)
    assert amounts(still_curve) == [curves.balance(still_curve, owner) for owner in (SENDER, OTHER)]
    assert [run for run in verify_all(chain_id) if run.missing or run.invented or run.corrected] == []
