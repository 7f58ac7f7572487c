"""The Farcaster mini app: its manifest and pages, and a real frame from another origin that speaks Comlink to them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from development.standins.loopback import Reply, run_server
from tests.html_pages import HOSTILE, read_page
from tests.processes.chromium import browse_site
from tests.rows.factories import TokenFactory
from tests.tokens.site.token_scenes import make_scene

pytestmark = pytest.mark.django_db

ASSOCIATION = "eyJmaWQiOjF9.eyJkb21haW4iOiJhIn0.c2ln"
# A client as Farcaster's on the web: a page from another origin that answers calls in Comlink's wire format, and holds
# the frame closed for navigation to pages that may not be framed.
HOST = """<!DOCTYPE html><title>Client</title><iframe src="{url}" width="424" height="695"></iframe>
<script>
window.calls = [];
addEventListener("message", ({{ source, data }}) => {{
  if (source !== document.querySelector("iframe").contentWindow || data?.type !== "APPLY") return;
  window.calls.push([data.path.join("."), ...data.argumentList.map((each) => each.value)]);
  if ({answers}) source.postMessage({{ id: data.id, type: "RAW", value: undefined }}, "*");
}});
</script>"""


@contextmanager
def serve_host(url: str, *, answers: bool) -> Iterator[str]:
    """Serve the client's page on another origin, and yield its URL."""
    body = HOST.format(url=url, answers=json.dumps(answers)).encode()

    with run_server(lambda _: Reply(body, headers={"content-type": "text/html"})) as host:
        yield f"{host}/"


@pytest.mark.django_db(transaction=True)
def test_a_client_of_another_origin_shows_the_page_and_gets_ready(settings):
    settings.ALLOWED_HOSTS, settings.RPC_URLS = ["localhost"], {}
    token = make_scene()
    with browse_site() as browse:
        visited = browse("/robots.txt")
        page, path = visited.page, f"tokens/{token.chain_id}/{token.contract_address}"
        page.set_viewport_size({"width": 424, "height": 760})
        with serve_host(f"http://{visited.host}/miniapp/{path}", answers=True) as url:
            page.goto(url)
            page.wait_for_function("window.calls.length")
            assert page.evaluate("window.calls") == [["ready", {}]]
            frame = page.frame_locator("iframe")
            expect(frame.get_by_role("heading", name="Higher")).to_be_visible()
            expect(frame.locator(".chart")).to_be_visible()
            visited.photograph("miniapp")
            frame.get_by_role("link", name="More on").click()
            page.wait_for_function("window.calls.length === 2")
            name, target = page.evaluate("window.calls[1]")
            assert name == "openUrl" and target.endswith(f"/{path}") and len(page.context.pages) == 1
            # The mini app's pages follow one another inside the frame.
            frame.get_by_role("link", name="Tokens").click()
            frame.get_by_role("link", name="HIGHER").click()
            expect(frame.get_by_role("heading", name="Higher")).to_be_visible()
        # Any other page stays closed to frames.
        for closed in (f"/{path}", "/", "/leaderboard", "/docs", "/status"):
            with serve_host(f"http://{visited.host}{closed}", answers=True) as url:
                page.goto(url)
                assert page.frames[1].url == "chrome-error://chromewebdata/", closed
        page.close()


@pytest.mark.django_db(transaction=True)
def test_in_a_frame_that_is_no_client_links_stay_links(settings):
    settings.ALLOWED_HOSTS, settings.RPC_URLS = ["localhost"], {}
    token = make_scene()
    with browse_site() as browse:
        visited = browse("/robots.txt")
        page = visited.page
        path = f"/miniapp/tokens/{token.chain_id}/{token.contract_address}"
        with serve_host(f"http://{visited.host}{path}", answers=False) as url:
            page.goto(url)
            page.wait_for_function("window.calls.length")
            with page.context.expect_page():
                page.frame_locator("iframe").get_by_role("link", name="More on").click()
            assert page.evaluate("window.calls.length") == 1
        page.close()


def test_only_the_mini_app_s_pages_and_embeds_may_be_framed(client):
    token = TokenFactory()
    path = f"tokens/{token.chain_id}/{token.contract_address}"
    for framed in ("/miniapp", f"/miniapp/{path}", f"/embed/{path.replace('tokens', 'token')}"):
        answer = client.get(framed)
        read_page(answer)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.endswith("frame-ancestors *") and "X-Frame-Options" not in answer.headers
        assert not answer.cookies and "<form" not in answer.text
    for closed in ("/", f"/{path}", f"/{path}/trades", "/leaderboard", "/status", "/docs", "/nowhere", "/api/docs"):
        answer = client.get(closed)
        assert answer.headers["Content-Security-Policy"].endswith("frame-ancestors 'none'"), closed
        assert answer.headers["X-Frame-Options"] == "DENY", closed


def test_the_manifest_names_the_pages_and_pictures(client, settings):
    settings.RATE_LIMIT_CARDS = 0
    settings.SITE_URL, settings.SITE_NAME = "https://board.example", "Board " * 10
    answer = client.get("/.well-known/farcaster.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "public, s-maxage=3600"
    app = answer.json()["miniapp"]
    assert (app["version"], len(app["name"]), app["homeUrl"]) == ("1", 32, "https://board.example/miniapp")
    assert 0 < len(app["description"]) <= 170 and "accountAssociation" not in answer.json()
    for name in ("iconUrl", "imageUrl", "heroImageUrl", "splashImageUrl"):
        assert client.get(app[name].removeprefix("https://board.example")).headers["Content-Type"] == "image/png"
    settings.FARCASTER_ACCOUNT_ASSOCIATION = ASSOCIATION
    header, payload, signature = ASSOCIATION.split(".")
    proof = client.get("/.well-known/farcaster.json").json()["accountAssociation"]
    assert proof == {"header": header, "payload": payload, "signature": signature}


def test_an_installation_may_leave_the_mini_app_out(client, settings):
    token = TokenFactory()
    settings.SITE_SECTIONS = settings.SITE_SECTIONS - {"miniapp"}
    for path in (
        "/miniapp",
        f"/miniapp/tokens/{token.chain_id}/{token.contract_address}",
        "/.well-known/farcaster.json",
    ):
        assert client.get(path).status_code == 404


def test_a_blocked_token_advertises_nothing_and_hostile_names_stay_texts(client):
    blocked = TokenFactory(blocked=True, launch_warnings=["UNUSUAL_TICK"])
    text = client.get(f"/miniapp/tokens/{blocked.chain_id}/{blocked.contract_address}").text
    assert "have blocked this token" in text and "chart" not in text and "Unusual" not in text
    hostile = TokenFactory(name=HOSTILE, symbol=HOSTILE)
    for path in ("/miniapp", f"/miniapp/tokens/{hostile.chain_id}/{hostile.contract_address}"):
        assert (
            "alert(1)</script>" not in read_page(client.get(path)).elements
            and "<script>alert" not in client.get(path).text
        )
