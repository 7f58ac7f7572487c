"""Events that two launchpads declare with one topic: the launchpad of each token decides how its logs are read.

Contracts emit any log, and the expected amounts are those that the test has sent.
"""

from random import Random

import pytest
from eth_abi.abi import encode

from tests.nodes.devchain_tests import OTHER, SENDER
from tests.nodes.followed import Followed
from tests.tokens.following.trades.test_malformed_curve_logs import MADE, OWN, TRADED, Emitters
from tokens.models import FeeClaim, IndexRequest, PoolTrade, Token

pytestmark = pytest.mark.django_db

RENAMED, PAID = "Renamed(string,string)", "Paid(address,address,uint256,uint256)"
# The same types, and so the same topic: the second launchpad has the amounts, the names and the accounts exchanged.
LAYOUTS = {
    "odd": ("uint256 tokens, uint256 paid", "string name, string symbol", "address to, address by"),
    "even": ("uint256 paid, uint256 tokens", "string symbol, string name", "address by, address to"),
}
LAUNCHPAD = """
[launchpads.{launchpad}]
pool = "curve"

[[launchpads.{launchpad}.launch]]
contracts = {{ {chain_id} = ["{contract}"] }}
event = "Made(address token, address creator, string name)"
when = {when}
token = "token"
name = "name"
creator = "creator"
quote = "native"
{pool_id}

[[launchpads.{launchpad}.trade]]
event = "Traded({traded_token}{amounts})"
{token}
token_out = "tokens"
quote_in = "paid"

[[launchpads.{launchpad}.change]]
event = "Renamed({names})"
set = "name"
to = "name"

[[launchpads.{launchpad}.claim]]
event = "Paid({accounts}, uint256 amount, uint256 rest)"
recipient = "to"
quote_amount = "amount"
"""


class Launchpads(Emitters):
    """Two launchpads, each with a token, that share a contract or have their own curves."""

    def __init__(self, launchpad, *, is_shared):
        super().__init__(launchpad.deployment.rpc_url)
        self.is_shared = is_shared
        self.contracts = {"odd": self.contract, "even": self.contract if is_shared else self._deploy()}
        self.tokens = {"odd": self.token, "even": self.other}

    def declarations(self, chain_id):
        for name, (amounts, names, accounts) in LAYOUTS.items():
            yield LAUNCHPAD.format(
                launchpad=name,
                chain_id=chain_id,
                contract=self.contracts[name],
                # Where both share a contract, the launch's `name` distinguishes the launchpads.
                when=f'[{{ value = "name", is = ["{name}"] }}]',
                pool_id="" if self.is_shared else 'pool_id = "token"',
                traded_token="address token, " if self.is_shared else "",
                token='token = "token"' if self.is_shared else "",
                amounts=amounts,
                names=names,
                accounts=accounts,
            )

    def launch(self, name):
        values = [self.tokens[name], SENDER, name]
        self.emit(self.contracts[name], MADE, encode(["address", "address", "string"], values))

    def trade(self, name, *, tokens, paid):
        amounts = [tokens, paid] if name == "odd" else [paid, tokens]
        if self.is_shared:
            values = encode(["address", "uint256", "uint256"], [self.tokens[name], *amounts])
            self.emit(self.contracts[name], TRADED, values)
        else:
            self.emit(self.tokens[name], OWN, encode(["uint256", "uint256"], amounts))

    def rename(self, name, to):
        texts = [to, "symbol"] if name == "odd" else ["symbol", to]
        self.emit(self.tokens[name], RENAMED, encode(["string", "string"], texts))

    def pay(self, name, to, amount):
        accounts = [to, SENDER] if name == "odd" else [SENDER, to]
        values = encode(["address", "address", "uint256", "uint256"], [*accounts, amount, amount + 1])
        self.emit(self.tokens[name], PAID, values)


@pytest.fixture(params=[True, False], ids=["one contract", "own curves"])
def launchpads(request, own_launchpad, settings, forget_chains, tmp_path):
    found = Launchpads(own_launchpad, is_shared=request.param)
    file = tmp_path / "both.toml"
    file.write_text("".join(found.declarations(own_launchpad.chain_id)))
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(file))
    settings.LAUNCHPADS = {own_launchpad.chain_id: ("odd", "even")}
    forget_chains()
    return found


def trades():
    """Return launchpad -> amounts of the token and the quote token, in sequence."""
    found = PoolTrade.objects.order_by("position")
    amounts = found.values_list("token__generation", "amount_token", "amount_quote")
    return {name: [(int(token), int(quote)) for of, token, quote in amounts if of == name] for name in ("odd", "even")}


@pytest.mark.parametrize("seed", range(3))
def test_trades_are_read_by_the_launchpad_of_the_curves_token(own_launchpad, launchpads, seed):
    random, followed = Random(seed), Followed(own_launchpad.chain_id)
    followed.catch_up()
    expected = {"odd": [], "even": []}
    for name in ("odd", "even"):
        launchpads.launch(name)
    for _ in range(6):
        name = random.choice(("odd", "even"))
        tokens, paid = random.randrange(10**18, 10**24), random.randrange(10**12, 10**16)
        launchpads.trade(name, tokens=tokens, paid=paid)
        expected[name].append((tokens, paid))
    followed.catch_up()
    assert dict(Token.objects.values_list("generation", "contract_address")) == launchpads.tokens
    assert trades() == expected
    assert not IndexRequest.objects.filter(undecodable=True).exists()


def test_a_reading_without_one_of_both_does_not_take_its_trades(own_launchpad, launchpads, settings, forget_chains):
    """Check that the other launchpad's declaration does not apply to a launchpad that is switched off."""
    followed = Followed(own_launchpad.chain_id)
    followed.catch_up()
    launchpads.launch("odd")
    launchpads.trade("odd", tokens=10**20, paid=10**15)
    followed.catch_up()
    settings.LAUNCHPADS = {own_launchpad.chain_id: ("even",)}
    forget_chains()
    followed.restart()
    launchpads.trade("odd", tokens=10**21, paid=10**15)
    followed.catch_up()
    assert trades() == {"odd": [(10**20, 10**15)], "even": []}


def test_changes_and_claims_are_read_by_the_launchpad_of_the_token(own_launchpad, launchpads):
    followed = Followed(own_launchpad.chain_id)
    followed.catch_up()
    for name in ("odd", "even"):
        launchpads.launch(name)
        launchpads.rename(name, f"{name} anew")
        launchpads.pay(name, OTHER, 10**15 + len(name))
    followed.catch_up()
    assert dict(Token.objects.values_list("generation", "name")) == {"odd": "odd anew", "even": "even anew"}
    claims = FeeClaim.objects.values_list("event__token__generation", "recipient", "amount")
    assert sorted(claims) == [("even", OTHER, 10**15 + 4), ("odd", OTHER, 10**15 + 3)]
