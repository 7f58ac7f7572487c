"""The public pages: `/` and `/tokens/{chain}/{address}`."""

import pytest

from tests.html_pages import HOSTILE, Page, read_page
from tests.rows.factories import SolanaTokenFactory, TokenFactory

pytestmark = pytest.mark.django_db

ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"


def page_of(token):
    return f"/tokens/{token.chain_id}/{token.contract_address}"


def make_hostile():
    links = [
        {"platform": HOSTILE, "url": "javascript:alert(1)"},
        {"platform": HOSTILE, "url": "data:text/html,x"},
        {"platform": HOSTILE, "url": 'https://a.example/"onclick="alert(1)'},
    ]
    return TokenFactory(
        name=HOSTILE,
        symbol=HOSTILE[:35],
        description=HOSTILE,
        img_url="https://tracker.example/a.png",
        pair=HOSTILE,
        metadata={"auditUrls": [], "description": HOSTILE, "socialMediaUrls": links},
    )


@pytest.mark.parametrize("method", ["post", "put", "delete"])
@pytest.mark.parametrize("path", ["/", f"/tokens/8453/{ADDRESS}"])
def test_pages_are_only_read(client, method, path):
    assert getattr(client, method)(path).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        f"/tokens/8453/{ADDRESS}",
        f"/tokens/1/{ADDRESS}",
        f"/tokens/{2**63}/{ADDRESS}",
        f"/tokens/{'9' * 400}/{ADDRESS}",
        f"/tokens/x/{ADDRESS}",
        f"/tokens/-1/{ADDRESS}",
        "/tokens/8453/0x12",
        "/tokens/8453/%00",
        "/tokens/8453/<script>",
        "/tokens",
        "/nowhere",
    ],
)
def test_missing_tokens_have_a_404_page(client, path):
    TokenFactory(contract_address=ADDRESS, unindexed=True)
    answer = client.get(path)
    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text
    assert not Page(answer.text).scripts_inside


def test_names_run_nothing_and_load_nothing(client):
    token = make_hostile()
    for path in ("/", page_of(token)):
        answer = client.get(path)
        read_page(answer)
        assert "tracker.example" not in answer.text
        assert "{{ settings }}" not in answer.text or "&lt;script&gt;" in answer.text
        assert answer.headers["Cache-Control"] == "public, s-maxage=2"


def test_only_addresses_of_the_web_become_links(client):
    addresses = read_page(client.get(page_of(make_hostile()))).addresses
    assert not [address for address in addresses if "a.example" in address]
    assert not [address for address in addresses if address.startswith(("javascript:", "data:"))]


@pytest.mark.parametrize("spell", [str, str.lower, lambda path: path + "/"])
def test_a_tokens_page_shows_its_facts(client, spell, django_assert_num_queries):
    token = TokenFactory(contract_address=ADDRESS, name="Higher", champagne=True, starting_market_cap=9.87083)
    with django_assert_num_queries(1):
        answer = client.get(spell(page_of(token)))
    facts = ["Higher", ADDRESS, "Base", "clanker_v4", ">100,000,000,000<", "9.8708", token.pool_address, "champagne"]
    assert [fact for fact in facts if fact not in answer.text] == []


def test_a_tokens_page_shows_warnings(client):
    TokenFactory(name="Higher", symbol="UP", verified=True)
    copy = TokenFactory(name="Higher", symbol="UP", launch_warnings=["UNUSUAL_TICK"])
    assert "UNUSUAL_TICK, POSSIBLE_COPY" in client.get(page_of(copy)).text


@pytest.mark.parametrize(
    ("supply", "text"),
    [(0, "0"), (1, "0.000000000000000001"), (15 * 10**17, "1.5"), (2**256 - 1, ".584007913129639935")],
)
def test_a_supply_is_exact(client, supply, text):
    assert f"{text}<" in client.get(page_of(TokenFactory(supply=supply))).text


def test_a_blocked_tokens_page_shows_it(client):
    assert "have blocked this token" in client.get(page_of(TokenFactory(blocked=True))).text


def test_a_token_about_which_little_is_known_has_a_page(client):
    token = TokenFactory(symbol="", supply=None, pool_address="", pair="", admin="", msg_sender="")
    assert "(no symbol)" in client.get(page_of(token)).text


def test_a_token_of_solana_has_its_page_under_its_mint_only(client):
    token = SolanaTokenFactory(supply=1_000_000_000_500_000)
    answer = client.get(page_of(token))
    page = read_page(answer)
    assert f"https://solscan.io/token/{token.contract_address}" in page.addresses
    for text in (token.contract_address, token.pool_address, token.tx_hash, token.admin, "clanker_solana"):
        assert text in answer.text
    assert "<td>1,000,000,000.5</td>" in answer.text
    swapped = token.contract_address[:-1].swapcase() + token.contract_address[-1]
    for address in (swapped, token.contract_address.lower(), token.contract_address[1:]):
        assert client.get(f"/tokens/101/{address}").status_code == 404
    assert client.get(f"/tokens/8453/{token.contract_address}").status_code == 404
