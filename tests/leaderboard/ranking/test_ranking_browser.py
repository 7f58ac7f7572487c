"""The public ranking in a real Chromium: rows on phones."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.processes.chromium import browse_site
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db(transaction=True)

# Number of lines of text in each row.
LINES = """() => [...document.querySelectorAll(".ranking tbody tr")].map((row) => {
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const bottoms = [];
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    bottoms.push(...[...range.getClientRects()].filter((box) => box.width).map((box) => box.bottom));
  }
  bottoms.sort((one, other) => one - other);
  return bottoms.filter((bottom, place) => !place || bottom - bottoms[place - 1] > 6).length;
})"""


@pytest.fixture
def site(transactional_db, settings):
    settings.ALLOWED_HOSTS = ["localhost"]
    snapshot = SnapshotFactory(ranked=3)
    token = TokenFactory(symbol="LEDGER")
    place = {"token_chain_id": token.chain_id, "token_address": token.contract_address, "token_symbol": token.symbol}
    high = {"audience": 0.6, "reliability": 0.9, "activity": 0.9, "consistency": 1.0, "creator": 0.9}
    StandingFactory(
        snapshot=snapshot,
        rank=1,
        agent_name="Ledgerkeeper of the north",
        creator_fid=977_123,
        runs_succeeded=124,
        runs_failed=3,
        posts=210,
        interactions=12_345,
        last_active_at=timezone.now() - timedelta(minutes=17),
        components=high,
        **place,
    )
    StandingFactory(snapshot=snapshot, rank=2, agent_name="Tiller", creator_fid=7, **place)
    # It was not active within the interval, and has neither token nor creator.
    StandingFactory(snapshot=snapshot, rank=3, creator_fid=None, token_chain_id=None, token_address="")
    with browse_site() as browse:
        visited = browse("/leaderboard", width=1280)
        yield visited
        visited.page.close()


def test_a_row_has_at_most_three_lines_on_phones_and_is_a_table_in_a_wide_window(site):
    page = site.page
    assert page.get_by_role("columnheader", name="Last active").is_visible()
    assert page.evaluate(LINES)[1] == 1
    site.photograph("leaderboard-1280")
    for language in ("", "/de"):
        page.goto(f"http://{site.host}{language}/leaderboard")
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            lines = page.evaluate(LINES)
            assert len(lines) == 3 and max(lines) <= 3, (language, lines)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                site.photograph(f"leaderboard-{width}-{scheme}{language.replace('/', '-')}")
    site.assert_clean()
