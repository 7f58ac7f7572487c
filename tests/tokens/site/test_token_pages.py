"""The public pages: `/` and `/tokens/{chain}/{address}`."""

import pytest
from django.test import Client

from tests.html_pages import HOSTILE, Page, read_page
from tests.rows.factories import TokenFactory

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


@pytest.mark.parametrize("path", ["/", f"/tokens/8453/{ADDRESS}", "/leaderboard", "/robots.txt"])
def test_a_form_that_is_sent_to_a_page_is_refused_by_its_method(path):
    answer = Client(enforce_csrf_checks=True).post(path, {"q": "cat"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


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
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")


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
