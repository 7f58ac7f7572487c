"""Examples on the page `/docs` about launches, uploads, presales and feeds, run against a service and a chain."""

from datetime import timedelta

import pytest
from django.utils import timezone
from PIL import Image

from accounts.keys import credentials
from accounts.models import Scope
from config.redis.connection import PREFIX, redis_client
from development.devchain.anvil import CHAIN_ID
from tests.conftest import ModuleWorld
from tests.processes.example_code import read_examples, run_example
from tests.rows.factories import DeployWalletFactory, TokenFactory
from tests.rows.launch_requests import ADMIN, WALLET
from tests.simulator import Traffic
from tests.tokens.deploying.test_presales import SENDER, start
from tests.tokens.feeds.conftest import followed_hours
from tests.tokens.feeds.feed_worlds import FACTORY, POOL, TOKEN, add_swap, follow_chain, make_pair
from tests.tokens.feeds.test_daily_feed import DAY, fetch
from tokens.installation.installed_chains import installed_chain
from tokens.models import Deployment, Upload

URL = "/docs"
LANGUAGES = ("curl", "python", "typescript")
STRANGER = "0x976EA74026E726554dB657fA54763abd0C3a0aa9"


@pytest.fixture
def run(live_server, client, settings, tmp_path):
    """Return a function that runs a task's example in a language, with texts replaced, and returns the output."""
    settings.SITE_URL, settings.FEEDS = live_server.url, ("dexscreener", "dextools", "daily")

    def run(task, language, *, variables=None, **replaced):
        code = read_examples(client.get(URL).text)[task, language]
        for old, new in replaced.items():
            code = code.replace(old, new)
        return run_example(language, code, tmp_path, **variables or {})

    return run


@pytest.mark.parametrize("language", LANGUAGES)
def test_presales_have_their_proofs(language, own_launchpad, run):
    for key in redis_client().scan_iter(f"{PREFIX}shared:presale*"):
        redis_client().delete(key)
    TokenFactory(chain_id=CHAIN_ID, msg_sender=SENDER)
    start(installed_chain(CHAIN_ID), own_launchpad.deployment, allowlist=(SENDER, STRANGER))
    output = run("presales", language)
    assert "PRE" in output and "active" in output
    assert "true" in output.lower() and "0x" in output.rpartition("[")[2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_launch_is_tried_and_enqueued(language, own_launchpad, transactional_db, run):
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    key = credentials.issue_key("Launchpad", scopes=[Scope.DEPLOY])
    output = run("launch", language, variables={"LAUNCHBOARD_KEY": key, "TOKEN_ADMIN": ADMIN})
    deployment = Deployment.objects.get()
    assert (deployment.chain_id, deployment.config["token"]["tokenAdmin"]) == (CHAIN_ID, ADMIN)
    assert output.count(deployment.expected_address) == 2
    assert str(deployment.gas) in output and "enqueued" in output


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_picture_and_a_document_are_stored(language, transactional_db, run, settings, tmp_path):
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path / "uploads"
    Image.new("RGB", (3, 2), "red").save(tmp_path / "token.png")
    key = credentials.issue_key("Launchpad", scopes=[Scope.DEPLOY])
    output = run("uploads", language, variables={"LAUNCHBOARD_KEY": key})
    picture, document = Upload.objects.order_by("pk")
    assert picture.url in output and document.url in output and "3" in output


@pytest.mark.parametrize("language", LANGUAGES)
def test_aggregators_get_the_events_of_final_blocks(language, transactional_db, run):
    follow_chain()
    add_swap(make_pair(), block=110)
    screener = run("screener", language)
    assert "swap" in screener and POOL in screener and "0.000000000123456789012345" in screener
    assert TOKEN in screener
    tools = run("tools", language)
    assert "swap" in tools and "DOGE" in tools
    assert (POOL if language == "curl" else FACTORY) in tools


@pytest.fixture
def chain(transactional_db, settings, forget_chains, tmp_path):
    """Follow a simulated chain, with committed rows for the live server."""
    world, traffic = ModuleWorld(settings, forget_chains), Traffic(launches=0.8, swaps=3, legacy=0.3)
    with followed_hours(traffic, hours=70, verified=50, world=world, directory=tmp_path) as (followed, _):
        yield followed


def test_a_day_has_its_volume_and_fees(run, chain):
    yesterday = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%d")
    sums = fetch(day=DAY).json()
    assert sums["trades"]
    for language in LANGUAGES:
        # On the simulated chain, which begins there.
        output = run("daily", language, **{yesterday: DAY})
        assert sums["volumeUsd"] in output
        assert all(quote["volume"] in output and quote["fees"] in output for quote in sums["quotes"])
