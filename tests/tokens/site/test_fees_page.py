"""Page with a token's uncollected fees, `/tokens/{chain}/{address}/fees`, which a node answers."""

import threading
from contextlib import ExitStack

import pytest

from config.processes.concurrency_limits import SLOTS, node_slot
from development.standins.loopback import Reply
from tests.html_pages import read_page
from tests.nodes.recordings import mined
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch

pytestmark = pytest.mark.django_db


def page_of(token):
    return f"/tokens/{token.chain_id}/{token.contract_address}/fees"


@pytest.fixture
def token(installed_node):
    return index_launch(mined("deploy-token1"))


def test_it_shows_the_fees_of_each_recipient(client, token, read_key):
    answer = client.get(page_of(token))
    words = " ".join(" ".join(read_page(answer).texts).split())
    # Every address in the response is a recipient's; the amounts are the API's.
    fees = client.get(f"/api/get-uncollected-fees/{token.contract_address}", headers=read_key).json()
    assert f"Read from the chain at block {fees['blockNumber']}." in words
    for share in fees["recipients"]:
        assert share["recipient"] in answer.text
    assert "WETH collected" in words
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"


def test_the_page_of_the_token_reads_no_node(client, token, node):
    before = len(node.calls)
    answer = client.get(page_of(token).removesuffix("/fees"))
    assert answer.status_code == 200 and page_of(token) in read_page(answer).addresses
    assert len(node.calls) == before


def test_it_shows_that_no_node_answers(client, token, node):
    node.behave = lambda body: Reply(b"", status=503)
    answer = client.get(page_of(token))
    assert answer.status_code == 503 and answer.headers["Cache-Control"] == "no-store"
    assert "t be read from the chain now" in answer.text


def test_it_ends_while_all_nodes_hang(client, token, installed_node, settings, forget_chains):
    settings.RPC_TIMEOUT_SECONDS, settings.RPC_PATIENCE_SECONDS, settings.RPC_ATTEMPTS = 30, 60, 4
    forget_chains()
    page_ended = threading.Event()
    # A page that waits for the node has the fees.
    installed_node.behave = lambda body: page_ended.wait(20) and None
    try:
        answer = client.get(page_of(token))
    finally:
        page_ended.set()
    assert answer.status_code == 503
    assert "t be read from the chain now" in answer.text


def test_the_second_node_has_time_if_the_first_one_hangs(client, token, node, second_node, settings, forget_chains):
    settings.RPC_TIMEOUT_SECONDS, settings.RPC_URLS = 30, {8453: (node.url, second_node.url)}
    forget_chains()
    page_ended = threading.Event()
    node.behave = lambda body: page_ended.wait(20) and None
    try:
        answer = client.get(page_of(token))
    finally:
        page_ended.set()
    assert answer.status_code == 200 and second_node.calls


def test_it_holds_no_more_threads_than_other_calls_of_nodes(client, token, node):
    with ExitStack() as slots:
        for _ in range(SLOTS):
            slots.enter_context(node_slot())
        before = len(node.calls)
        assert client.get(page_of(token)).status_code == 503
        assert len(node.calls) == before


def test_a_chain_without_a_node_is_shown_so(client):
    assert client.get(page_of(TokenFactory(chain_id=424_242))).status_code == 503


def test_a_visitor_has_the_limit_of_public_calls(client, token, settings):
    settings.RATE_LIMIT_PUBLIC = 1
    # Its own address: an earlier test's request may still count for the usual one.
    answers = [client.get(page_of(token), REMOTE_ADDR="203.0.113.92") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
