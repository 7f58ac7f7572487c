"""The protocol's own client library on a live server: it lists tools, calls each of them, and meets refusals.

It negotiates the revision, validates each message by its models, and each result by its tool's schema.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import requests
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult, Tool
from pytest_django.live_server_helper import LiveServer

from accounts.keys import credentials
from accounts.models import Scope
from config.mcp.tool_table import TOOLS
from config.processes.concurrency_limits import LARGE_BODY_BYTES
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import Launchpad
from tests.processes.service_processes import web_service
from tests.rows.factories import ChainHeadFactory, CoverageFactory, DeployWalletFactory, FeeClaimFactory
from tests.rows.launch_requests import WALLET, order, pretoken
from tests.rows.ranking_walks import make_snapshot
from tests.rows.user_tokens import as_user
from tests.tokens.market.stored_trades import make_trade, make_traded_token, make_weeks
from tokens.indexing.index_requests import index_transaction
from tokens.models import Deployment, Token

# A client with a handshake, and one without.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
PUBLIC = (
    *("search_tokens", "list_tokens", "get_token", "get_integrity", "search_creators", "get_creator", "list_trades"),
    *("list_candles", "get_leaderboard", "get_status", "prepare_launch", "prepare_swap", "prepare_claim_fees"),
    *("prepare_collect_rewards", "prepare_claim_airdrop", "prepare_claim_vault", "prepare_presale_buy"),
)


class Agent:
    """A server's client with a credential: each use opens its own connection."""

    def __init__(self, url: str, mode: str, headers: dict[str, str]) -> None:
        self._url, self._mode, self._headers = f"{url}/mcp", mode, headers

    def use(self, action: Callable[[Client], Awaitable[Any]]) -> Any:
        """Connect, and return what the action returns."""

        async def run() -> Any:
            async with create_mcp_http_client(headers=self._headers) as http:
                transport = streamable_http_client(self._url, http_client=http)
                async with Client(transport, mode=self._mode) as client:
                    assert client.protocol_version == MODES[self._mode]
                    return await action(client)

        return asyncio.run(run())

    def tools(self) -> dict[str, Tool]:
        """Return the listed tools by name."""
        listed = self.use(lambda client: client.list_tools())
        return {tool.name: tool for tool in listed.tools}

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        """Call a tool and return its result, which the library has validated."""
        result: CallToolResult = self.use(lambda client: client.call_tool(name, arguments))
        return result

    def read(self, name: str, **arguments: Any) -> Any:
        """Return a successful call's structured content."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def refusal(self, name: str, **arguments: Any) -> tuple[str, str]:
        """Return a refused call's error and its sentence about the status."""
        result = self.call(name, **arguments)
        body, status = (content.text for content in result.content if content.type == "text")
        assert result.is_error
        return json.loads(body)["error"], status


@pytest.fixture(params=MODES)
def agent(request: pytest.FixtureRequest, live_server: LiveServer) -> Callable[..., Agent]:
    """Return a function from headers to an agent with them."""
    return lambda **headers: Agent(live_server.url, request.param, headers)


def key(*scopes: Scope) -> dict[str, str]:
    return {"x-api-key": credentials.issue_key("Agent", scopes=scopes)}


def protocol_error(match: str) -> Any:
    """Expect a protocol error, which the library may raise in its tasks' exception groups."""
    return pytest.RaisesGroup(pytest.RaisesExc(MCPError, match=match), flatten_subgroups=True, allow_unwrapped=True)


def test_it_lists_tools_and_learns_the_service(agent):
    found = agent().tools()
    assert {*PUBLIC, "list_trending"} == set(found)
    for tool in found.values():
        assert tool.title and tool.description and tool.annotations.read_only_hint
    everything = agent(**key(*Scope)).tools()
    assert {entry.name for entry in TOOLS} - set(everything) == {"create_pretoken", "list_pretokens"}
    assert not everything["deploy_token"].annotations.read_only_hint
    info, instructions = agent().use(_describe)
    assert (info.name, info.title) == ("launchboard", "Launchboard") and "chain" in instructions


async def _describe(client: Client) -> Any:
    return client.server_info, client.instructions


def test_it_calls_each_tool_that_reads(agent, settings, market):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9/node",)}
    make_weeks(1)
    token = make_traded_token(name="Cat of cats", symbol="CATTY")
    make_trade(token)
    make_snapshot()
    ChainHeadFactory()
    CoverageFactory()
    reader, place = agent(), {"chainId": token.chain_id, "address": token.contract_address}
    assert [each["symbol"] for each in reader.read("search_tokens", q="catty")["data"]] == ["CATTY"]
    assert reader.read("list_tokens", sortBy="market-cap", limit=1)["data"]
    assert reader.read("get_token", **place)["data"]["symbol"] == "CATTY"
    (bought,) = reader.read("get_integrity", **place)["firstSeconds"]["purchases"]
    assert bought["side"] == "buy"
    (creator,) = reader.read("search_creators", q=token.msg_sender)["data"]
    assert reader.read("get_creator", creator=creator["key"])["data"]["totals"]["launches"] == 1
    assert reader.read("list_trades", **place)["data"][0]["side"] in ("buy", "sell")
    assert "data" in reader.read("list_candles", interval="1h", currency="quote", fill=True, **place)
    assert set(reader.read("list_trending")) == {"trending", "tokens"}
    assert reader.read("get_leaderboard", interval="24h")["data"]
    assert [chain["name"] for chain in reader.read("get_status")["chains"]] == ["Base"]


def test_it_calls_each_tool_that_reads_with_a_key(agent, launchpad: Launchpad):
    claim = FeeClaimFactory(recipient=WALLET, currency=WALLET)
    partner = agent(**key(Scope.READ, Scope.INDEX, Scope.DEPLOY))
    fees = partner.read("get_claimed_fees", tokenAddress=WALLET, feeRecipient=WALLET, chainId=claim.chain_id)
    assert fees["claimCount"] == 1
    indexed = partner.read("index_transaction", chainId=CHAIN_ID, txHash=launchpad.launch())
    assert indexed["address"] == Token.objects.get().contract_address
    fees = partner.read("get_uncollected_fees", address=indexed["address"], chainId=CHAIN_ID)
    assert fees["tokenAddress"] == indexed["address"]


def test_it_deploys_with_the_scope(agent, launchpad: Launchpad):
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    partner = agent(**key(Scope.DEPLOY))
    body = order()
    dry = partner.read("deploy_token", **body, dryRun=True)
    assert dry["success"] and not Deployment.objects.exists()
    accepted = partner.read("deploy_token", **body)
    # A repeated call deploys nothing more.
    assert partner.read("deploy_token", **body)["expectedAddress"] == accepted["expectedAddress"]
    state = partner.read("get_deploy_status", requestKey=body["token"]["requestKey"])
    assert state["status"] and Deployment.objects.count() == 1


def test_it_prepares_calls_that_the_user_signs(agent, launchpad: Launchpad, unmet_limits: None):
    public = agent()
    tools = public.tools()
    prepared = [name for name in tools if name.startswith("prepare_")]
    assert len(prepared) == 7 and all(tools[name].annotations.read_only_hint for name in prepared)
    answer = public.read("prepare_launch", **{"from": WALLET}, **order())
    assert answer["data"]["from"] == WALLET and answer["predictedAddress"]
    (token,) = index_transaction(chain_id=CHAIN_ID, tx_hash=launchpad.launch())
    wallet = {"from": WALLET, "chainId": CHAIN_ID}
    collected = public.read("prepare_collect_rewards", **wallet, tokenAddresses=[token])
    assert [call["to"] for call in collected["data"]["calls"]] == [launchpad.deployment.locker]
    bought = public.read("prepare_swap", **wallet, tokenAddress=token, side="buy", amount="1000000")
    assert (bought["swap"]["amountIn"], len(bought["data"]["calls"])) == ("1000000", 1)
    for tool, arguments, error in (
        ("prepare_claim_fees", {"currencies": [token]}, "NoFeesToClaim()"),
        ("prepare_claim_vault", {"tokenAddress": token}, "NoBalanceToClaim()"),
        ("prepare_presale_buy", {"presaleId": 10**6, "amount": "1"}, "InvalidPresale()"),
    ):
        refused = (f"The transaction would be reverted: {error}", "HTTP status 400.")
        assert public.refusal(tool, **wallet, **arguments) == refused
    refused = ("tokenAddress must be a token with an airdrop", "HTTP status 400.")
    assert public.refusal("prepare_claim_airdrop", **wallet, tokenAddress=token, amount="1", proof=[]) == refused
    assert not Deployment.objects.exists()


def test_it_stores_a_pretoken_of_a_user(agent, issuer, launchpad: Launchpad):
    user = agent(**as_user(issuer, 7))
    assert {"create_pretoken", "list_pretokens"} <= set(user.tools())
    created = user.read("create_pretoken", **pretoken())
    assert [each["id"] for each in user.read("list_pretokens")["pendingPretokens"]] == [created["id"]]


def test_writes_are_refused_without_their_scope(agent, launchpad: Launchpad):
    arguments = {"chainId": CHAIN_ID, "txHash": launchpad.launch()}
    assert agent().refusal("index_transaction", **arguments) == ("API key is required", "HTTP status 401.")
    reader = agent(**key(Scope.READ))
    assert reader.refusal("index_transaction", **arguments) == ("This key lacks the scope index", "HTTP status 403.")
    assert reader.refusal("deploy_token", **order())[0] == "This key lacks the scope deploy"
    assert agent().refusal("create_pretoken", **pretoken()) == ("Unauthorized", "HTTP status 401.")
    assert not Token.objects.exists() and not Deployment.objects.exists()


def test_wrong_arguments_are_explained(agent):
    text, status = agent().refusal("search_tokens", q="x", limit=500)
    assert (text, status) == ("limit must be a whole number from 0 to 20", "HTTP status 400.")
    assert agent().refusal("search_tokens", query="x")[0].startswith("query is not known; known are: ")
    unknown = {"chainId": 8453, "address": "0x" + "1" * 40}
    assert agent().refusal("get_token", **unknown) == ("Token not found", "HTTP status 404.")
    with protocol_error(r"params\.name must be one of search_tokens, "):
        agent().call("drop_tables")


@pytest.mark.usefixtures("no_calls")
def test_a_limit_is_met_by_a_tool_and_by_the_protocol(agent, settings):
    async def call_often(client: Client) -> list[CallToolResult]:
        await client.list_tools()
        return [await client.call_tool("get_status", {}) for _ in range(4)]

    settings.RATE_LIMIT_PUBLIC = 5
    results = agent().use(call_often)
    assert [result.is_error for result in results] == sorted(result.is_error for result in results)
    assert results[-1].is_error and "HTTP status 429. Retry after " in results[-1].content[1].text
    with protocol_error("Too many requests"):
        agent().tools()


def test_an_invalid_key_is_refused(agent):
    with protocol_error("Unauthorized"):
        agent(**{"x-api-key": "lb_live_x"}).tools()


def test_the_web_server_serves_both_kinds_of_clients_and_bounds_bodies(service_environment, unused_port):
    body = b"[" * 8 * LARGE_BODY_BYTES
    with web_service(service_environment, unused_port) as url:
        for mode in MODES:
            reader = Agent(url, mode, {})
            assert {*PUBLIC, "list_trending"} == set(reader.tools())
            assert reader.read("list_tokens") == {"data": [], "total": 0, "cursor": None, "tokensDeployed": 0}
        for length, status in ((LARGE_BODY_BYTES, 400), (LARGE_BODY_BYTES + 1, 413), (len(body), 413)):
            response = requests.post(
                f"{url}/mcp", body[:length], headers={"Content-Type": "application/json"}, timeout=60
            )
            assert (response.status_code, response.json()["jsonrpc"]) == (status, "2.0")
