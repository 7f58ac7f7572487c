"""The status page and the page for integrators in a real Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from config.site import assets
from tests.processes.chromium import Visit, browse_site
from tests.rows.factories import ChainHeadFactory, TokenFactory
from tokens.models import ChainHead

pytestmark = pytest.mark.django_db(transaction=True)

LOGO = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>rect { fill: #f00 }</style>
<rect width="32" height="32"/><script>document.documentElement.remove()</script></svg>"""
# Red, green and blue in the logo's middle.
PIXEL = """async () => {
  const logo = document.querySelector('.brand img'), canvas = document.createElement('canvas').getContext('2d');
  await logo.decode();
  canvas.drawImage(logo, 0, 0);
  return [...canvas.getImageData(16, 16, 1, 1).data].slice(0, 3);
}"""
LANGUAGES = ("curl", "python", "typescript")


@pytest.fixture
def site(transactional_db, settings) -> Iterator[Visit]:
    """Return a visit to the page for integrators, with a chain that is up to date and a token."""
    settings.ALLOWED_HOSTS, settings.RPC_URLS = ["localhost"], {8453: ("http://127.0.0.1:9",)}
    with browse_site() as browse:
        ChainHeadFactory()
        TokenFactory()
        visited = browse("/docs")
        yield visited
        visited.page.close()


def test_a_logo_has_its_own_styles_on_pages_and_runs_nothing(site, settings, tmp_path):
    settings.SITE_LOGO = tmp_path / "logo.svg"
    settings.SITE_LOGO.write_text(LOGO)
    assets._assets.cache_clear()
    try:
        site.page.goto(f"http://{site.host}/docs")
        assert site.page.evaluate(PIXEL) == [255, 0, 0]
        site.assert_clean()
    finally:
        assets._assets.cache_clear()


def test_the_status_page_stays_up_to_date(site, beat_runs):
    page = site.page
    page.clock.install()
    page.goto(f"http://{site.host}/status")
    expect(page.get_by_text("All chains are up to date.")).to_be_visible()
    ChainHead.objects.update(halted="final blocks were dropped")
    page.clock.fast_forward(16_000)
    expect(page.get_by_text("New launches are not read at the moment: Base.")).to_be_visible()
    ChainHead.objects.update(halted="")
    page.clock.fast_forward(16_000)
    expect(page.get_by_text("All chains are up to date.")).to_be_visible()
    assert page.locator("#status").count() == 1
    site.assert_clean()


def test_a_visitor_chooses_the_language_of_examples_by_keyboard(site):
    page = site.page

    def visible() -> list[int]:
        return [page.locator(f".example.{language}:visible").count() for language in LANGUAGES]

    assert visible() == [17, 0, 0]
    page.get_by_label("curl").focus()
    page.keyboard.press("ArrowRight")
    assert visible() == [0, 17, 0]
    page.get_by_role("link", name="Listen to the stream").click()
    expect(page.get_by_role("heading", name="Listen to the stream")).to_be_in_viewport()
    site.assert_clean()
