"""The public page `/docs`: its examples run for real against a running service."""

import re
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from accounts.keys import credentials
from accounts.models import Scope
from config.environment.issuers import read_issuers
from tests.html_pages import HOSTILE, read_page
from tests.processes.example_code import check_types, read_examples, run_example
from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.token_lists import price
from tests.tokens.market.stored_trades import TRADER, WEEK, make_candle, make_trade, make_traded_token, make_weeks
from tokens.chains.launching.merkle import NODE_BYTES, build_tree
from tokens.models import Market

URL = "/docs"
LANGUAGES = ("curl", "python", "typescript")
# The entries that the examples save.
AIRDROP = [
    ("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", 10**21),
    ("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", 2 * 10**21),
]
TASKS = (
    *("newest", "search", "token", "prices", "trades", "creator", "integrity", "mcp", "users", "airdrops", "presales"),
    *("events", "stream", "index", "webhook"),
)
# On an installation with the node of an EVM chain, and the second with sign-in.
WALLET_TASKS = {"transactions", "signin"}
# Each task's feed that is left out without it.
FEED_TASKS = {"bars": "udf", "screener": "dexscreener", "tools": "dextools", "daily": "daily"}


@pytest.mark.django_db
def test_it_has_each_task_in_each_language_with_this_installation_s_addresses(client, settings):
    settings.SITE_URL = "https://launch.example.org"
    token = TokenFactory(chain_id=1, requestor_fid=41)
    page = client.get(URL).text
    examples = read_examples(page)
    assert set(examples) == {(task, language) for task in TASKS for language in LANGUAGES}
    for (task, language), code in examples.items():
        assert not re.search(r"launchboard\.example|\b(8453|977)\b", code)
        if (task, language) not in {("webhook", "python"), ("webhook", "typescript")}:
            assert f"https://launch.example.org/{'mcp' if task == 'mcp' else 'api/'}" in code
        if task in ("token", "trades", "integrity"):
            assert f"https://launch.example.org/api/tokens/1/{token.contract_address}" in code
        if task in ("airdrops", "prices"):
            assert token.contract_address in code
        if task in ("presales", "users"):
            assert token.msg_sender in code
        if task == "creator":
            assert f"https://launch.example.org/api/creators/{token.msg_sender}" in code
        if task == "index":
            assert token.tx_hash in code
    assert {"/api/docs", "/api/openapi.json", "#example-stream"} <= set(read_page(client.get(URL)).addresses)


@pytest.mark.django_db
def test_it_has_the_newest_token_with_trades(client, django_assert_num_queries):
    def address() -> str:
        with django_assert_num_queries(1):
            page = client.get(URL).text
        return str(re.search(r"/api/tokens/8453/(0x\w{40})/trades", page)[1])

    older, traded, newest = (TokenFactory(deployed_at=timezone.now() - timedelta(hours=age)) for age in (3, 2, 1))
    assert address() == newest.contract_address
    Market.objects.filter(token__in=[older, traded]).update(last_trade_at=timezone.now())
    assert address() == traded.contract_address


@pytest.mark.django_db
def test_without_tokens_it_has_made_up_addresses(client):
    assert f"/api/tokens/8453/0x{1:040}" in client.get(URL).text


@pytest.mark.django_db
def test_tokens_of_solana_and_blocked_ones(client):
    token = SolanaTokenFactory()
    TokenFactory(blocked=True, symbol=HOSTILE[:35])
    examples = read_examples(client.get(URL).text)
    assert f"/api/tokens/101/{token.contract_address}" in examples["token", "python"]
    assert token.tx_hash in examples["index", "typescript"]


@pytest.mark.django_db
def test_one_query_and_a_minute_in_caches(client, settings, django_assert_num_queries):
    TokenFactory(name=HOSTILE, symbol=HOSTILE)
    with django_assert_num_queries(1):
        answer = client.get(URL)
    assert "alert(1)" not in answer.text
    assert answer.headers["Cache-Control"] == "public, s-maxage=60"
    assert URL.startswith(settings.EDGE_CACHE_PREFIXES)


@pytest.mark.django_db
def test_an_installation_may_leave_it_out(client, settings):
    assert URL in read_page(client.get("/")).addresses
    settings.SITE_SECTIONS = frozenset()
    assert client.get(URL).status_code == 404
    assert URL not in read_page(client.get("/")).addresses


@pytest.mark.django_db
def test_types_of_examples_are_checked(client, settings, tmp_path):
    settings.FEEDS, settings.UPLOAD_STORAGE = tuple(FEED_TASKS.values()), "directory"
    settings.RPC_URLS = {1: ("http://127.0.0.1:9",)}
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    examples = read_examples(client.get(URL).text)
    codes = {task: code for (task, language), code in examples.items() if language == "typescript"}
    assert codes.keys() == {*TASKS, *FEED_TASKS, *WALLET_TASKS, "launch", "uploads"}
    check_types(codes, tmp_path)
    # The types find a misspelled field.
    wrong = {"token": codes["token"].replace("token.symbol", "token.simbol")}
    with pytest.raises(pytest.fail.Exception, match=r"token\.mts\(.*simbol"):
        check_types(wrong, tmp_path)


@pytest.mark.django_db
def test_it_names_the_packages_that_the_examples_import(client, settings):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    page = client.get(URL).text
    codes = [code for (_, language), code in read_examples(page).items() if language == "python"]
    imported = {name for code in codes for name in re.findall(r"^(?:import|from) (\w+)", code, re.M)}
    [named] = re.findall(r"pip install ([\w ]+)", page)
    # web3 installs eth-account.
    assert set(named.split()) == imported - sys.stdlib_module_names - {"eth_account"}
    assert "npx --yes tsx" in page and "npm install viem" in page


@pytest.mark.django_db
def test_the_index_names_each_task_once_below_its_subject(client):
    page = client.get(URL).text
    index = page.split("<nav")[2].partition("</nav>")[0]
    assert re.findall(r"#example-(\w+)", index) == re.findall(r'<section id="example-(\w+)"', page)
    assert re.findall(r"<b>(.*?)</b>", index) == re.findall(r"<h2>(.*?)</h2>", page)[:-2]
    assert "Charts and feeds" not in index


@pytest.mark.django_db
def test_a_feed_that_is_on_has_a_task_of_its_own(client, settings):
    assert not {f"#example-{task}" for task in FEED_TASKS} & set(read_page(client.get(URL)).addresses)
    settings.FEEDS = ("udf",)
    assert {f"#example-{task}" for task in FEED_TASKS} & set(read_page(client.get(URL)).addresses) == {"#example-bars"}


@pytest.mark.django_db
def test_launches_have_a_task_on_the_first_chain_that_has_deployments(client, settings):
    SolanaTokenFactory()
    settings.RPC_URLS = {101: ("http://127.0.0.1:9",)}
    assert "#example-launch" not in read_page(client.get(URL)).addresses
    settings.RPC_URLS |= {42161: ("http://127.0.0.1:9",), 1: ("http://127.0.0.1:9",)}
    examples = read_examples(client.get(URL).text)
    assert '{"chainId": 1,' in examples["launch", "curl"]
    assert f"{settings.SITE_URL}/api/tokens/deploy" in examples["launch", "typescript"]


@pytest.mark.django_db
def test_wallets_have_tasks_for_the_first_evm_chain_with_a_node_and_the_token_s_pair(client, settings):
    def tasks() -> set[str]:
        return WALLET_TASKS & {task for task, _ in read_examples(client.get(URL).text)}

    settings.RPC_URLS = {101: ("http://127.0.0.1:9",)}
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    assert tasks() == set()
    settings.RPC_URLS |= {1: ("http://127.0.0.1:9",)}
    assert tasks() == WALLET_TASKS
    assert "Chain ID: 1\n" in read_examples(client.get(URL).text)["signin", "python"]
    token = TokenFactory(paired_token=f"0x{9:040}")
    settings.IDENTITY_ISSUERS = ()
    assert tasks() == {"transactions"}
    for language in LANGUAGES:
        code = read_examples(client.get(URL).text)["transactions", language]
        assert token.contract_address in code and token.paired_token in code


@pytest.mark.django_db
def test_tasks_of_evm_chains_keep_their_addresses_beside_a_token_of_solana(client, settings):
    settings.FEEDS = tuple(FEED_TASKS.values())
    SolanaTokenFactory()
    examples = read_examples(client.get(URL).text)
    assert "/api/feeds/dexscreener/8453" in examples["screener", "python"]
    assert f"0x{1:040}" in examples["airdrops", "curl"]


@pytest.mark.django_db
def test_the_day_of_the_examples_is_the_last_whole_one(client, settings):
    settings.FEEDS = ("daily",)
    days = {(timezone.now() - timedelta(days=1)).strftime("%Y-%m-%d")}
    shown = set(re.findall(r"day=([\d-]{10})", read_examples(client.get(URL).text)["daily", "curl"]))
    assert shown == days


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_of_charts_run(language, live_server, client, settings, tmp_path):
    settings.SITE_URL, settings.FEEDS = live_server.url, ("udf",)
    make_weeks(1)
    token = make_traded_token(symbol="CATTY", pair="WETH")
    make_candle(token, WEEK, 1, 2, 1, 1.5, seconds=3600)
    output = run_example(language, read_examples(client.get(URL).text)["bars", language], tmp_path)
    assert "CATTY/" in output
    assert str(int(WEEK.timestamp())) in output


@pytest.fixture
def examples(live_server: LiveServer, client: Any, settings: Any) -> dict[tuple[str, str], str]:
    """Return a running service's examples with a traded token."""
    settings.SITE_URL = live_server.url
    make_weeks(1)
    recipients = [{"admin": TRADER, "recipient": TRADER, "bps": 10_000, "token": "Both"}]
    extensions = dict.fromkeys(["vault", "airdrop", "devBuy", "sniperTax", "positions"])
    extensions["fees"] = {"type": "static", "recipients": recipients}
    extensions["airdrop"] = {"amount": "1", "merkleRoot": build_tree(AIRDROP).root, "admin": TRADER, "lockup": None}
    columns = {"known_interface_deployer": True, "requestor_fid": 41, "extensions": extensions}
    token = make_traded_token(name="Cat of cats", symbol="CATTY", **columns)
    SocialProfileFactory(fid=41, username="catherine")
    SocialProfileFactory(fid=42, username="sender", verified_addresses=[token.msg_sender])
    make_trade(token)
    price(token, market_cap=123_456_789)
    return read_examples(client.get(URL).text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_of_reading_run(language, examples, tmp_path):
    def run(task: str) -> str:
        return run_example(language, examples[task, language], tmp_path)

    assert "CATTY" in run("newest") and "CATTY" in run("search")
    token = run("token")
    assert "CATTY" in token and "DEPLOYER_KNOWN" in token
    creator = run("creator")
    assert "CATTY" in creator and "history_not_read" in creator
    assert "123456789" in run("prices")
    assert re.search("buy|sell", run("trades"))
    assert "transfers" in run("integrity")
    assert "CATTY" in run("mcp")
    users = run("users")
    assert "catherine" in users and "sender" in users
    assert ("User not found" if language == "curl" else "name is of no stored user") in users


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_with_a_key_run(language, examples, tmp_path):
    key = credentials.issue_key("Reader", scopes=[Scope.READ, Scope.WEBHOOKS, Scope.DEPLOY])
    run_example(language, examples["events", language], tmp_path, LAUNCHBOARD_KEY=key)
    output = run_example(language, examples["airdrops", language], tmp_path, LAUNCHBOARD_KEY=key)
    tree = build_tree(AIRDROP)
    # The root is in the responses about saving, the key's saved airdrops and the token; then follows the proof.
    assert output.count(tree.root) == 3
    # With two entries, one's proof is the other's leaf.
    leaf = tree.nodes[NODE_BYTES * tree.positions[1] :][:NODE_BYTES]
    assert str(AIRDROP[0][1]) in output and output.count(f"0x{leaf.hex()}") == 1
    if language == "curl":
        output = run_example(language, examples["webhook", language], tmp_path, LAUNCHBOARD_KEY=key)
        assert '"secret":"whsec_' in output


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["", "/de", "/zh-hans"])
def test_code_in_texts_is_marked(client, language):
    answer = client.get(f"{language}/docs")
    read_page(answer)
    text = answer.text
    codes = re.findall(r"<code>([^<\n]+)</code>", text)
    for code in (
        "x-api-key",
        "LAUNCHBOARD_KEY",
        "pip install requests mcp web3",
        "RateLimit-Limit",
        "Retry-After",
        "null",
    ):
        assert code in codes, code
    # What is in examples is no own mark.
    assert "`" not in re.sub(r"<pre.*?</pre>|data-copy=\"[^\"]*\"", "", text, flags=re.DOTALL)


@pytest.mark.django_db
def test_markdown_keeps_the_marks(client):
    text = client.get("/docs.md").text
    assert "the header `x-api-key`; the examples" in text and "``" not in text.replace("```", "")
