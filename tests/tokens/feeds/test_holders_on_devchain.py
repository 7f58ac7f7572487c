"""Holders for a token that was launched and traded on a development chain, whose transfers an explorer folds."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from development.devchain.anvil import CHAIN_ID
from development.standins.explorer_server import ExplorerStandIn
from development.standins.http_server import Mode, ReceivedRequest
from tests.tokens.feeds.feed_worlds import SENDER
from tests.tokens.feeds.test_token_holders import fetch
from tokens.installation.installed_chains import installed_chain
from tokens.models import PoolTrade, Token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(traded: Any, explorer: ExplorerStandIn) -> Token:
    """Return a development chain's most traded token; the explorer reads its transfers."""
    explorer.node = traded.deployment.rpc_url
    most = PoolTrade.objects.values("token").annotate(trades=Count("*")).order_by("-trades")[0]
    return Token.objects.get(pk=most["token"])


def test_pages_have_all_holders_with_the_balances_of_the_contract(token: Token) -> None:
    chain = installed_chain(CHAIN_ID)
    pages = [fetch(CHAIN_ID, id=token.contract_address, page=page).json()["asset"] for page in range(4)]
    holders = [each for page in pages for each in page["holders"]]
    (total,) = {page["totalHoldersCount"] for page in pages}
    assert {page["id"] for page in pages} == {token.contract_address}
    assert [len(page["holders"]) for page in pages] == [
        len(range(total)[first : first + 10]) for first in (0, 10, 20, 30)
    ]
    assert total > 1
    balances = chain.read_token_balances(token.contract_address, [each["address"] for each in holders]).amounts
    assert len(balances) == total
    # Launched tokens can't be minted: the whole supply is held by these accounts.
    assert sum(balances.values()) == token.supply
    assert [each["quantity"] for each in holders] == [balances[each["address"]] // 10**18 for each in holders]
    assert [*balances.values()] == sorted(balances.values(), reverse=True)


def test_the_check_compares_them_with_the_chain(token: Token, explorer: ExplorerStandIn) -> None:
    output = StringIO()
    call_command("check_feeds", "--chain", CHAIN_ID, "--holders", token.contract_address, stdout=output)
    assert "which have 100.00% of the supply, 0 differ" in output.getvalue()

    def change(received: ReceivedRequest, body: Any) -> Any:
        if received.path == "/api":
            body["result"][1]["value"] = "12"
        return body

    explorer.change = change
    output = StringIO()
    with pytest.raises(CommandError, match="the explorer differs from the chain"):
        call_command("check_feeds", "--chain", CHAIN_ID, "--holders", token.contract_address, stdout=output)
    difference, summary = output.getvalue().splitlines()
    assert ": the explorer has 12, and the chain " in difference
    assert summary.endswith(", 1 differ")


def test_the_check_names_what_it_lacks(token: Token, explorer: ExplorerStandIn, settings: Any) -> None:
    with pytest.raises(CommandError, match="--holders takes an asset of this feed"):
        call_command("check_feeds", "--chain", CHAIN_ID, "--holders", SENDER)
    explorer.behave(Mode.FAIL)
    with pytest.raises(CommandError, match="the explorer or the node: HTTP status 500"):
        call_command("check_feeds", "--chain", CHAIN_ID, "--holders", token.contract_address)
    settings.EXPLORER_URLS = {}
    with pytest.raises(CommandError, match=f"needs EXPLORER_URL_{CHAIN_ID}"):
        call_command("check_feeds", "--chain", CHAIN_ID, "--holders", token.contract_address)
