"""Launch events that a contract repeats for a token: the first on the chain counts, as long as the chain has its block.

The repetition names another curve, whose trades would replace the trades in the token's own curve.
"""

import pytest
from eth_abi.abi import encode

from config.redis.connection import redis_client
from tests.nodes.devchain_tests import SENDER
from tests.nodes.followed import Followed
from tests.nodes.following_chain import control
from tests.rows.written_facts import all_rows
from tests.tokens.following.trades.test_malformed_curve_logs import PRICE, TOKENS, Emitters
from tokens.following.coverage import open_live_coverage
from tokens.following.history import read_history, sum_up
from tokens.following.verifying.verification import verify_coverage
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain
from tokens.market.trading.trade_pages import fetch_trade_page, find_traded_token, parse_trade_cursor
from tokens.models import Candle, Coverage, PoolTrade, Token

pytestmark = pytest.mark.django_db

MADE = "Made(address,address,string,address)"
OWN = "Traded(uint256,uint256)"
LAUNCHPAD = """
[launchpads.odd]
pool = "curve"

[[launchpads.odd.launch]]
contracts = {{ {chain_id} = ["{contract}"] }}
event = "Made(address token, address creator, string name, address curve)"
token = "token"
name = "name"
creator = "creator"
quote = "native"
pool_id = "curve"

[[launchpads.odd.trade]]
event = "Traded(uint256 tokens, uint256 paid)"
token_out = "tokens"
quote_in = "paid"
"""


class Factory(Emitters):
    """A factory that emits any launch event for any token, the token, and two curves."""

    def __init__(self, launchpad):
        super().__init__(launchpad.deployment.rpc_url)
        self.launchpad, self.curve, self.rival = launchpad, self.other, self._deploy()

    def launch(self, curve, name):
        values = [self.token, SENDER, name, curve]
        return self.emit(self.contract, MADE, encode(["address", "address", "string", "address"], values))

    def trade_in(self, curve, tokens):
        return self.emit(curve, OWN, encode(["uint256", "uint256"], [tokens, PRICE]))

    def launch_twice(self):
        """Launch the token, and again with the rival curve, with trades in both curves; return both launches."""
        first = self.launch(self.curve, "First")
        self.trade_in(self.curve, TOKENS)
        second = self.launch(self.rival, "Second")
        self.trade_in(self.rival, 2 * TOKENS)
        self.trade_in(self.curve, 3 * TOKENS)
        return first, second


@pytest.fixture
def factory(own_launchpad, settings, forget_chains, tmp_path):
    redis_client().flushdb()
    found = Factory(own_launchpad)
    file = tmp_path / "odd.toml"
    file.write_text(LAUNCHPAD.format(chain_id=own_launchpad.chain_id, contract=found.contract))
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(file))
    settings.LAUNCHPADS = {own_launchpad.chain_id: ("odd",)}
    settings.FOLLOW_FROM = {own_launchpad.chain_id: 0}
    forget_chains()
    return found


def read_as_final(chain_id, first):
    """Read and verify all blocks from this one on; return whether verification had something to repair."""
    chain = installed_chain(chain_id)
    last = chain.read_head()
    (row,) = open_live_coverage(chain.info, final=last)
    Coverage.objects.filter(pk=row.pk).update(first_block=first, followed_to=first - 1, verified_to=first - 1)
    row.refresh_from_db()
    for _ in read_history(row, chain=chain, target=lambda: last, control=control()):
        pass
    sum_up(row, chain=chain.info, stop=control().stop)
    runs = list(verify_coverage(row, chain=chain, alternate=chain, target=lambda: last, control=control()))
    Coverage.objects.all().delete()
    return any(run.missing or run.invented or run.corrected or run.kept for run in runs)


def block_of(factory, tx_hash):
    return factory.launchpad.web3.eth.get_transaction_receipt(tx_hash)["blockNumber"]


def stored():
    """Return the token's name and curve, and its trades' amounts."""
    token = Token.objects.on_chain().get()
    trades = PoolTrade.objects.filter(token=token).order_by("position").values_list("amount_token", flat=True)
    return token.name, token.pool_address, [int(amount) for amount in trades]


def candles():
    return list(Candle.objects.values("seconds", "at", "buys", "close", "volume_quote").order_by("seconds", "at"))


def listed(factory):
    traded = find_traded_token(factory.launchpad.chain_id, factory.token)
    trades = fetch_trade_page(traded, limit=10, cursor=parse_trade_cursor(None)).trades
    return [int(trade["amountToken"]) for trade in reversed(trades)]


def test_a_repetition_at_the_head_changes_nothing(factory, own_launchpad):
    followed = Followed(own_launchpad.chain_id)
    followed.catch_up()
    factory.launch(factory.curve, "First")
    factory.trade_in(factory.curve, TOKENS)
    followed.catch_up()
    factory.launch(factory.rival, "Second")
    factory.trade_in(factory.rival, 2 * TOKENS)
    factory.trade_in(factory.curve, 3 * TOKENS)
    followed.catch_up()
    assert stored() == ("First", factory.curve, [TOKENS, 3 * TOKENS])
    assert listed(factory) == [TOKENS, 3 * TOKENS]


def test_history_stores_the_first_launch_in_any_order(factory, own_launchpad):
    first, second = factory.launch_twice()
    chain_id, expected = own_launchpad.chain_id, ("First", factory.curve, [TOKENS, 3 * TOKENS])
    assert not read_as_final(chain_id, block_of(factory, first))
    assert stored() == expected
    in_order, in_candles = all_rows(), candles()
    for model in (PoolTrade, Candle, Token):
        model.objects.all().delete()
    read_as_final(chain_id, block_of(factory, second))
    assert stored() == ("Second", factory.rival, [2 * TOKENS])
    assert not read_as_final(chain_id, block_of(factory, first))
    assert (all_rows(), stored()) == (in_order, expected)
    assert candles() == in_candles
    # A later reading that has only the repetition's blocks.
    assert not read_as_final(chain_id, block_of(factory, second))
    assert stored() == expected


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 0, 1)])
def test_indexing_by_hash_stores_the_first_launch_in_any_order(factory, own_launchpad, order):
    launches = factory.launch_twice()
    for place in order:
        addresses = index_transaction(chain_id=own_launchpad.chain_id, tx_hash=launches[place])
        assert addresses == (factory.token,)
    assert stored()[:2] == ("First", factory.curve)
    assert Token.objects.get().tx_hash == launches[0]


@pytest.mark.parametrize("is_followed", [True, False], ids=["followed", "by hash"])
def test_a_launch_whose_block_is_dropped_gives_way(factory, own_launchpad, is_followed):
    chain_id, followed = own_launchpad.chain_id, None
    mark = own_launchpad.snapshot()
    if is_followed:
        followed = Followed(chain_id)
        followed.catch_up()
    first = factory.launch(factory.curve, "First")
    followed.catch_up() if followed else index_transaction(chain_id=chain_id, tx_hash=first)
    assert stored()[0] == "First"
    own_launchpad.revert(mark)
    # Two blocks, so that the repetition comes later than the first launch did.
    factory.trade_in(factory.rival, TOKENS)
    second = factory.launch(factory.rival, "Second")
    followed.catch_up() if followed else index_transaction(chain_id=chain_id, tx_hash=second)
    assert stored()[:2] == ("Second", factory.rival)
    assert Token.objects.count() == 1
