"""Malformed logs from trusted contracts: left out, counted and reported, in each reading, and nothing else is lost.

The launchpad's contracts emit any log: topic and data are their calldata.
"""

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from development.devchain import node_client
from tests.nodes.devchain_tests import OTHER, SENDER
from tests.nodes.followed import Followed
from tests.nodes.following_chain import control
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.errors import LogDecodingError
from tokens.chains.pool_types import EVERY_POOL
from tokens.following import coverage
from tokens.following.history import read_history, sum_up
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain
from tokens.models import IndexRequest, PoolTrade, Token

pytestmark = pytest.mark.django_db

# A contract that logs its calldata by LOG1: topic, data.
EMITTER = "0x601280600b6000396000f3" + "60203603806020600037600035906000a100"
MADE, TRADED = "Made(address,address,string)", "Traded(address,uint256,uint256)"
OWN, RENAMED = "Traded(uint256,uint256)", "Renamed(address,string)"
PRICE, TOKENS = 10**15, 10**21
LAUNCHPAD = """
[launchpads.odd]
pool = "curve"

[[launchpads.odd.launch]]
contracts = {{ {chain_id} = ["{contract}"] }}
event = "Made(address token, address creator, string name)"
token = "token"
name = "name"
creator = "creator"
quote = "native"

[[launchpads.odd.trade]]
event = "Traded(address token, uint256 tokens, uint256 paid)"
token = "token"
token_out = "tokens"
quote_in = "paid"

[[launchpads.odd.trade]]
event = "Traded(uint256 tokens, uint256 paid)"
token_out = "tokens"
quote_in = "paid"

[[launchpads.odd.change]]
event = "Renamed(address token, string name)"
token = "token"
set = "name"
to = "name"
"""


class Emitters:
    """The launchpad's contract, a token that is its own curve, and a foreign contract."""

    def __init__(self, url):
        self.url = url
        self.contract, self.token, self.other = (self._deploy() for _ in range(3))

    def emit(self, by, signature, data):
        """Have a contract emit a log, and return the transaction's hash."""
        topic = keccak(text=signature).hex()
        sent = node_client.send_transaction(self.url, sender=SENDER, to=by, data=f"0x{topic}{data.hex()}")
        node_client.wait_for_receipt(self.url, sent)
        return sent.to_0x_hex()

    def make(self, token):
        return self.emit(self.contract, MADE, encode(["address", "address", "string"], [token, SENDER, "Odd"]))

    def trade(self, tokens=TOKENS, paid=PRICE):
        return self.emit(self.contract, TRADED, encode(["address", "uint256", "uint256"], [self.token, tokens, paid]))

    def _deploy(self):
        sent = node_client.send_transaction(self.url, sender=SENDER, to=None, data=EMITTER)
        return str(node_client.wait_for_receipt(self.url, sent)["contractAddress"])


@pytest.fixture
def emitters(own_launchpad, settings, forget_chains, tmp_path):
    found = Emitters(own_launchpad.deployment.rpc_url)
    file = tmp_path / "odd.toml"
    file.write_text(LAUNCHPAD.format(chain_id=own_launchpad.chain_id, contract=found.contract))
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(file))
    settings.LAUNCHPADS = {own_launchpad.chain_id: ("odd",)}
    settings.FOLLOW_FROM = {own_launchpad.chain_id: 0}
    forget_chains()
    return found


def words(*numbers):
    return b"".join(number.to_bytes(32) for number in numbers)


def emit_malformed(emitters):
    """Emit malformed logs; return transaction -> (contract) for logs by the launchpad and its token."""
    token = int(emitters.token, 16)
    by_contract = [
        # Words too few, a word that is no address, and more than any token has.
        emitters.emit(emitters.contract, TRADED, words(token, TOKENS)),
        emitters.emit(emitters.contract, TRADED, words(token | 1 << 200, TOKENS, PRICE)),
        emitters.trade(paid=2**256 - 1),
        emitters.trade(tokens=2**127),
        # A text that begins behind the data, in a launch and in a change.
        emitters.emit(emitters.contract, MADE, words(token, token, 9_999)),
        emitters.emit(emitters.contract, RENAMED, words(token, 9_999)),
    ]
    by_token = emitters.emit(emitters.token, OWN, words(TOKENS))
    # No curve, and a trade with nothing, as a rounded amount makes it.
    emitters.emit(emitters.other, OWN, words(TOKENS))
    emitters.trade(tokens=0)
    return dict.fromkeys(by_contract, emitters.contract) | {by_token: emitters.token}


def undecodable():
    """Return transaction -> contract for the launchpad's undecodable transactions."""
    found = IndexRequest.objects.filter(undecodable=True, launchpad="odd")
    return dict(found.values_list("tx_hash", "contract"))


def follow_head(chain_id):
    """Begin at the newest block, and return how to go on from there."""
    followed = Followed(chain_id)
    followed.catch_up()
    return followed.catch_up


def follow_history(chain_id):
    """Return how to read all blocks as final ones."""

    def read():
        chain = installed_chain(chain_id)
        last = chain.read_head()
        (row,) = coverage.open_live_coverage(chain.info, final=last)
        for _ in read_history(row, chain=chain, target=lambda: last, control=control()):
            pass
        sum_up(row, chain=chain.info, stop=control().stop)

    return read


@pytest.mark.parametrize("follow", [follow_head, follow_history])
def test_malformed_logs_are_counted_and_cost_nothing_else(own_launchpad, emitters, follow):
    go_on = follow(own_launchpad.chain_id)
    launched, first = emitters.make(emitters.token), emitters.trade()
    expected = emit_malformed(emitters)
    last = emitters.trade(tokens=2 * TOKENS)
    go_on()
    token = Token.objects.get(tx_hash=launched)
    assert (token.contract_address, token.name) == (emitters.token, "Odd")
    trades = PoolTrade.objects.order_by("position").values_list("tx_hash", "amount_token")
    assert [(f"0x{tx_hash.hex()}", amount) for tx_hash, amount in trades] == [(first, TOKENS), (last, 2 * TOKENS)]
    assert undecodable() == expected


@pytest.mark.parametrize("follow", [follow_head, follow_history])
def test_a_launch_of_no_token_is_counted_and_not_stored(own_launchpad, emitters, follow):
    """Launch an account, the zero address and a token: only the token has code."""
    go_on = follow(own_launchpad.chain_id)
    expected = {emitters.make(no_token): emitters.contract for no_token in (OTHER, ZERO_ADDRESS)}
    launched = emitters.make(emitters.token)
    go_on()
    # It has no view: a supply that is unknown is no reason.
    assert list(Token.objects.values_list("tx_hash", "supply")) == [(launched, None)]
    assert undecodable() == expected
    reasons = IndexRequest.objects.filter(undecodable=True).values_list("last_error", flat=True)
    assert all(any(f"its token {address} has no code" in text for text in reasons) for address in (OTHER, ZERO_ADDRESS))
    IndexRequest.objects.all().delete()
    for tx_hash in expected:
        with pytest.raises(LogDecodingError, match="no code"):
            index_transaction(chain_id=own_launchpad.chain_id, tx_hash=tx_hash)
    assert undecodable() == expected


def test_each_reading_of_blocks_has_the_same_undecodable_logs(own_launchpad, emitters):
    emitters.make(emitters.token)
    expected = emit_malformed(emitters)
    chain = installed_chain(own_launchpad.chain_id)
    last = chain.read_head()
    first = last - len(expected) - 4
    headers = [header for _, header in sorted(chain.read_headers(range(first, last + 1)).items())]
    readings = [
        chain.read_range(first, last, pools=EVERY_POOL),
        chain.read_blocks(headers, pools=EVERY_POOL),
        chain.read_receipts(headers, pools=EVERY_POOL),
    ]
    ours = [[log for log in reading.undecodable if log.emitter != emitters.other] for reading in readings]
    assert ours[0] == ours[1] == ours[2]
    # Malformed changes are found when they are stored.
    assert len(ours[0]) == len(expected) - 1


def test_index_by_hash_has_the_reason(own_launchpad, emitters):
    go_on = follow_head(own_launchpad.chain_id)
    emitters.make(emitters.token)
    expected = emit_malformed(emitters)
    go_on()
    launch, change = [tx_hash for tx_hash, by in expected.items() if by == emitters.contract][-2:]
    IndexRequest.objects.all().delete()
    for tx_hash in (launch, change):
        with pytest.raises(LogDecodingError):
            index_transaction(chain_id=own_launchpad.chain_id, tx_hash=tx_hash)
    assert undecodable() == {launch: emitters.contract, change: emitters.contract}
