"""The public page `/leaderboard`: rows, links, and what it never shows."""

import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from accounts.administrators import sessions
from leaderboard.models import Agent, Interval
from tests.html_pages import HOSTILE, Page, read_page
from tests.leaderboard.ranking.test_leaderboard_anonymous import secrets_in
from tests.rows.agent_factories import AgentFactory, SnapshotFactory, StandingFactory
from tests.rows.ranking_walks import COMPUTED, PUBLIC, make_snapshot, replace

pytestmark = pytest.mark.django_db

URL = "/leaderboard"


def ranks(answer):
    return [int(rank) for rank in re.findall(r"<tr>\s*<td class=\"number rank\">(\d+)</td>", answer.text)]


def next_page(answer):
    read_page(answer)
    found = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
    return found and html.unescape(found[1])


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_it_is_only_read(client, method):
    assert getattr(client, method)(URL).status_code == 405


@pytest.mark.parametrize("path", [URL, f"{URL}/"])
def test_it_states_that_there_is_no_ranking(client, path):
    make_snapshot(interval="7d")
    answer = client.get(path)
    assert "There is no ranking of the last 24 hours yet." in answer.text
    assert {"table", "caption"} & set(read_page(answer).elements) == set()


def test_it_states_that_nobody_is_ranked(client):
    make_snapshot(0)
    assert "No agent is in the ranking of the last 24 hours." in client.get(URL).text


def test_each_interval_has_a_link_and_its_ranking(client):
    for size, interval in enumerate(Interval.values, start=1):
        make_snapshot(size, interval=interval)
    links = [f"{URL}?interval={interval}" for interval in Interval.values]
    assert [address for address in read_page(client.get(URL)).addresses if "interval" in address] == links
    assert [len(ranks(client.get(link))) for link in links] == [1, 2, 3]
    assert re.findall(r'<a href="(.*?)" aria-current="page">', client.get(links[1]).text) == [links[1]]


def test_an_empty_interval_and_the_cursor_of_another_one_are_the_default(client):
    make_snapshot(30)
    cursor = next_page(client.get(URL)).partition("cursor=")[2]
    assert ranks(client.get(f"{URL}?interval=")) == list(range(1, 26))
    make_snapshot(2, interval="7d")
    assert ranks(client.get(f"{URL}?interval=7d&cursor={cursor}")) == [1, 2]


def test_pages_of_25_stay_on_one_ranking(client):
    snapshot = make_snapshot(60)
    first = client.get(URL)
    replace(snapshot, size=2)
    second = client.get(next_page(first))
    third = client.get(next_page(second))
    assert [ranks(page) for page in (first, second, third)] == [
        list(range(1, 26)),
        list(range(26, 51)),
        list(range(51, 61)),
    ]
    assert next_page(third) is None
    assert f"{URL}?interval=24h" in read_page(third).addresses and "First page" in third.text
    assert "First page" not in first.text
    assert ranks(client.get(URL)) == [1, 2]


def test_hidden_agents_are_left_out(client):
    make_snapshot(2)
    Agent.objects.update(is_hidden=True)
    answer = client.get(URL)
    assert (ranks(answer), "No agent is in the ranking" in answer.text) == ([], True)


def test_it_shows_the_public_columns(client):
    snapshot = SnapshotFactory(computed_at=COMPUTED, ranked=1)
    StandingFactory(
        snapshot=snapshot,
        agent=AgentFactory(agent_id="qahwa", name=""),
        token_chain_id=8453,
        token_address="0x3fbE62c928df8A3EE07873270516b03C16850A33",
        token_symbol="",
        last_active_at=COMPUTED - timedelta(hours=1),
        components={"audience": 0.1, "reliability": 0.7, "activity": 0.2, "consistency": 0.5, "creator": 0.9},
    )
    answer = client.get(URL)
    texts = ["qahwa", "(no symbol)", "2026-02-07 03:50 UTC", "2026-02-07 02:50", "24 hours", "3 of 4"]
    assert [text for text in texts if text not in answer.text] == []
    assert "/tokens/8453/0x3fbE62c928df8A3EE07873270516b03C16850A33" in read_page(answer).addresses


def test_the_table_has_a_caption_and_headers_of_rows_and_columns(client):
    make_snapshot(2)
    page = read_page(client.get(URL))
    assert page.elements.count("caption") == 1
    assert page.elements.count("th") == 8 + 2
    assert {"scope", "aria-current", "tabindex"} <= page.attributes
    assert 'name="viewport"' in client.get(URL).text


def test_names_of_agents_and_tokens_run_nothing_and_load_nothing(client):
    snapshot = SnapshotFactory(ranked=2)
    for rank, name in ((1, HOSTILE), (2, "")):
        StandingFactory(
            snapshot=snapshot,
            rank=rank,
            agent=AgentFactory(agent_id=HOSTILE[:60] if rank == 2 else "named", name=name),
            agent_name=name,
            public_id=HOSTILE[:60] if rank == 2 else "named",
            token_chain_id=8453,
            token_address="0x3fbE62c928df8A3EE07873270516b03C16850A33",
            token_symbol=HOSTILE[:35],
        )
    answer = client.get(URL)
    read_page(answer)
    assert answer.text.count("&lt;script&gt;") >= 2


def test_nobody_sees_the_score(client):
    make_snapshot(3)
    anonymous = client.get(URL)
    client.cookies[sessions.COOKIE] = sessions.begin_session(User.objects.create_user("chief", is_staff=True)).cookie
    administrator = client.get(URL)
    assert [secrets_in(answer) for answer in (anonymous, administrator)] == [[], []]
    assert administrator.content == anonymous.content


def test_caches_may_keep_it_as_they_keep_the_api(client, settings):
    assert client.get(URL).headers["Cache-Control"] == PUBLIC
    settings.EDGE_CACHE_SECONDS = 60.0
    assert "/leaderboard".startswith(settings.EDGE_CACHE_PREFIXES)


def test_an_agent_without_a_token_has_no_link(client):
    StandingFactory(snapshot=SnapshotFactory(ranked=1), token_chain_id=None, token_address="")
    answer = client.get(URL)
    assert ranks(answer) == [1]
    assert not [address for address in read_page(answer).addresses if address.startswith("/tokens/")]


def test_other_pages_link_to_it(client, settings):
    assert URL in Page(client.get("/").text).addresses
    settings.SITE_SECTIONS = frozenset({"status"})
    assert URL not in Page(client.get("/").text).addresses
    assert client.get(URL).status_code == 404


def test_creators_link_to_their_pages(client, settings):
    snapshot = SnapshotFactory(ranked=2)
    StandingFactory(snapshot=snapshot, rank=1, creator_fid=977)
    StandingFactory(snapshot=snapshot, rank=2, creator_fid=None)
    page = read_page(client.get(URL))
    assert [address for address in page.addresses if address.startswith("/creators/")] == ["/creators/977"]
    settings.SITE_SECTIONS = frozenset({"leaderboard"})
    answer = client.get(URL)
    assert "/creators/977" not in read_page(answer).addresses and "FID 977" in answer.text


def test_only_a_large_audience_is_marked(client):
    snapshot = SnapshotFactory(ranked=3, large_audience=0.25)
    for rank, components in enumerate(({"audience": 0.25}, {"audience": 0.24, "activity": 0.01}, {}), start=1):
        StandingFactory(snapshot=snapshot, rank=rank, components=components)
    # A ranking from before the column existed.
    StandingFactory(snapshot=SnapshotFactory(ranked=1, interval="7d"), components={"audience": 1.0})
    assert 'class="mark"' not in client.get(f"{URL}?interval=7d").text
    answer = client.get(URL)
    assert re.findall(r'class="mark">([^<]*)<', answer.text) == ["large audience"]
    assert not [words for words in ("small audience<", "few ", "at times") if words in answer.text.split("</table>")[0]]


def test_an_agent_that_was_not_active_within_the_interval_has_no_age(client):
    StandingFactory(snapshot=SnapshotFactory(ranked=1), last_active_at=None)
    answer = client.get(URL)
    assert '<td class="number active"></td>' in answer.text and "unknown" not in answer.text


def test_it_explains_the_score_without_one(client):
    page = read_page(client.get(URL))
    assert "What the score is made of" in page.texts and "#score-parts" in page.addresses
    assert page.elements.count("li") == 9


def test_it_is_in_the_language_of_its_path(client):
    make_snapshot(30)
    page = read_page(client.get("/de/leaderboard"))
    assert "/de/leaderboard?interval=7d" in page.addresses
    assert [address for address in page.addresses if address.startswith("/de/tokens/")]


@pytest.mark.parametrize("name", ["\u202eevil", "\u0645\u0631\u062d\u0628\u0627", "x" * 10_000, "\U0001f680" * 500])
def test_strange_names_stay_in_their_cells(client, name):
    StandingFactory(
        snapshot=SnapshotFactory(ranked=1),
        agent_name=name[:100],
        token_symbol=name,
        token_chain_id=8453,
        token_address="0x3fbE62c928df8A3EE07873270516b03C16850A33",
    )
    answer = client.get(URL)
    assert ranks(answer) == [1]
    assert "\u202e" not in answer.text and len(answer.text) < 20_000


def test_a_constant_number_of_queries(client, django_assert_num_queries):
    make_snapshot(25)
    with django_assert_num_queries(1):
        client.get(URL)
