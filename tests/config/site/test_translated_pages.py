"""All public pages in German and Chinese: no English word besides names and data."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from html.parser import HTMLParser

import pytest
from django.utils import timezone, translation

from leaderboard.models import Interval
from tests.config.site.test_translations import catalog_path, read_catalog
from tests.nodes.recordings import mined
from tests.rows.agent_factories import AgentFactory, SnapshotFactory, StandingFactory
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    FollowedBlockFactory,
    SolanaTokenFactory,
    TokenFactory,
)
from tests.rows.indexed_tokens import index_launch
from tests.tokens.site.token_scenes import ADMIN, FID, RECIPIENT, make_airdrop, make_scene
from tokens.site.warning_texts import _TEXTS as WARNINGS

pytestmark = pytest.mark.django_db

LOCALES = {"de": "de", "zh-hans": "zh_Hans"}


def words_in(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+(?:['’][a-z]+)?", re.sub(r"%\(\w+\)[sd]|<[^>]*>", " ", text.lower())))


# Words that page texts have in English only, so that a text that is not marked is found, too.
COMMON = words_in("""
    the of and is are was not no by from with this that these which to for at on it its be been has have than last
    first show hide more all any only other unknown none yet price buy sell trade market launch warning
""")
# Data on these pages that contain such words.
NAMES = re.compile(
    r"USD|Launchboard|BNB Smart Chain|Arbitrum One|Higher|HIGH(?:ER)?"
    r"|Clanker Token|Token [0-9]+|\w+…\w+|0x\w+|\b\w{32,44}\b"
)
_SHOWN_ATTRIBUTES = ("title", "alt", "placeholder", "aria-label", "data-copied", "data-one", "data-many", "data-label")
_SILENT = {"bdi", "pre", "code", "script", "time"}


class ShownTexts(HTMLParser):
    """A parser that collects what a page says in its own words: texts, labels and share tags, without chain data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _SILENT or "lang" in values and tag == "a":
            self._silent.append(tag)
        # Addresses have their own titles.
        if tag not in _SILENT:
            self.texts += [values[name] for name in _SHOWN_ATTRIBUTES if not re.match("0x", values.get(name, "0x"))]
        if tag == "meta" and re.search("title|description|alt", values.get("property", "") + values.get("name", "")):
            self.texts.append(values["content"])
        if values.get("name") == "fc:miniapp":
            self.texts += re.findall('"title": "(.*?)"', values["content"])

    def handle_endtag(self, tag: str) -> None:
        if self._silent and self._silent[-1] == tag:
            self._silent.pop()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.texts.append(data)


@cache
def english_words(locale: str) -> frozenset[str]:
    """Return the words in the English sources that no translation in the language has."""
    catalog = read_catalog(catalog_path(locale, "mo"))
    sources = {word for key in catalog for word in words_in(str(key[0] if isinstance(key, tuple) else key))}
    translated = {word for text in catalog.values() for word in words_in(text)}
    return frozenset((sources | COMMON) - translated)


def english_in(answer, locale: str) -> list[str]:
    """Return a page's texts with an English word."""
    assert answer.status_code in (200, 400, 404, 503), answer.status_code
    texts = [NAMES.sub("", text) for text in ShownTexts(answer.text).texts]
    assert len(texts) > 5
    return [f"{text.strip()}: {found}" for text in texts if (found := words_in(text) & english_words(locale))]


def make_agents() -> None:
    snapshot = SnapshotFactory(interval=Interval.DAY, ranked=3)
    for rank, part in enumerate((0.05, 0.2, 0.9), start=1):
        values = dict.fromkeys(("audience", "reliability", "activity", "consistency", "creator"), part)
        agent = AgentFactory(name="Aurora")
        StandingFactory(
            snapshot=snapshot,
            rank=rank,
            agent=agent,
            agent_name="Aurora",
            token_chain_id=8453,
            token_address=ADMIN if rank == 1 else "",
            token_symbol="",
            components=values,
        )
    SnapshotFactory(interval=Interval.WEEK, ranked=0)


def make_chains(settings) -> None:
    """Create chains in all states: up to date, at finality, late, waiting, and halted with incidents."""
    settings.RPC_URLS = dict.fromkeys((1, 56, 101, 8453, 42161), ("http://127.0.0.1:9",))
    settings.MARKET_PROVIDER_CHAINS = (56,)
    now = timezone.now()
    ChainHeadFactory(chain_id=101)
    ChainHeadFactory(chain_id=56, followed=None)
    ChainHeadFactory(chain_id=1, head=3_000_500, followed=3_000_000, head_at=now)
    FollowedBlockFactory(chain_id=1, number=3_000_000, at=now - timedelta(minutes=3))
    ChainHeadFactory(chain_id=42161, halted="x")
    CoverageAlarmFactory(chain_id=42161, repaired=True)
    CoverageAlarmFactory(chain_id=1, repaired=False)


def token_paths() -> Iterator[str]:
    """Create tokens in all states, and yield their page paths."""
    codes = [code for code in WARNINGS if code != "POSSIBLE_COPY"]
    scene = make_scene(launch_warnings=codes, verified=True)
    make_airdrop(scene)
    copy = TokenFactory(name="Higher", symbol="HIGHER", launch_warnings=codes)
    for token in (scene, copy, TokenFactory(blocked=True), SolanaTokenFactory()):
        place = f"{token.chain_id}/{token.contract_address}"
        yield from (f"/tokens/{place}{part}" for part in ("", "/trades", "/fees"))
        yield f"/embed/token/{place}"
    path = f"/tokens/{scene.chain_id}/{scene.contract_address}"
    for recipient in (RECIPIENT, ADMIN, copy.contract_address, "x"):
        yield f"{path}?recipient={recipient}"
    for choice in ("interval=1d", "interval=1h&unit=cap", "interval=15m&currency=quote", "interval=4h", "interval=1m"):
        yield f"{path}?{choice}"
    empty = TokenFactory(symbol="", name="", supply=None, pool_address="", pair="", admin="", msg_sender="")
    yield f"/tokens/{empty.chain_id}/{empty.contract_address}"
    for fees in (
        {"type": "dynamic", "baseFee": 50, "maxFee": 500, "recipients": []},
        {"type": "dynamic", "baseFee": None, "maxFee": None, "recipients": []},
    ):
        token = TokenFactory(extensions=TokenFactory.build().extensions | {"fees": fees})
        yield f"/tokens/{token.chain_id}/{token.contract_address}"


HOME = (
    "/",
    "/?tab=trending",
    "/?tab=graduating",
    "/?q=zzz",
    "/?q=zzz&chain=1",
    "/?q=a",
    "/?chain=424242",
    "/?q=higher",
)
OTHERS = (
    *("/leaderboard", "/leaderboard?interval=7d", "/leaderboard?interval=30d", "/leaderboard?cursor=x"),
    *("/status", "/docs", "/nowhere", f"/creators/{FID}", f"/creators/{ADMIN}", "/creators/999"),
)


@pytest.fixture(params=LOCALES)
def look(client, request):
    """Return a function that returns a page's English texts in a language."""

    def english_texts(path: str) -> list[str]:
        return english_in(client.get(f"/{request.param}{path}"), LOCALES[request.param])

    return english_texts


def test_english_words_are_found(client):
    TokenFactory()
    for locale in LOCALES.values():
        assert len(english_in(client.get("/"), locale)) > 20
        assert {"the", "market", "search", "newest", "of"} <= english_words(locale)


def test_empty_pages_are_translated(look, settings):
    settings.RPC_URLS = {}
    for path in (*HOME, *OTHERS):
        assert look(path) == [], path


def test_full_pages_are_translated(look, settings):
    paths = list(token_paths())
    make_agents()
    make_chains(settings)
    for path in (*HOME, *OTHERS, *paths):
        assert look(path) == [], path


def test_a_chain_that_is_up_to_date_is_translated(look):
    ChainHeadFactory(head_at=timezone.now())
    CoverageFactory(verified_to=2_999_100)
    assert look("/status") == []


def test_fees_that_a_node_reports_are_translated(look, installed_node):
    token = index_launch(mined("deploy-token1"))
    assert look(f"/tokens/{token.chain_id}/{token.contract_address}/fees") == []


def test_missing_pages_link_to_the_home_page_of_their_language(client):
    answer = client.get("/de/nowhere")
    assert answer.status_code == 404 and "<h1>Nicht gefunden</h1>" in answer.text
    assert re.search('<a href="/de/">[^<]+</a></p>', answer.text)
    assert translation.get_language() == "en"
