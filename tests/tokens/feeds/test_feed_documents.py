"""The answers in docs/feeds.md are the service's, and every answer is as the API description has it."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from config.environment.variables import BASE_DIR
from tests.config.api.test_described_answers import close_objects
from tests.nodes.following_chain import install
from tests.simulator import SimulatedChain, serve
from tests.tokens.feeds.feed_worlds import (
    CHAIN,
    FACTORY,
    POOL,
    SENDER,
    TOKEN,
    WEEK,
    add_change,
    add_swap,
    follow_chain,
    make_pair,
)
from tests.tokens.market.stored_trades import make_candle
from tokens.models import LaunchFacts

pytestmark = pytest.mark.django_db

GUIDE = BASE_DIR / "docs" / "feeds.md"
# A response in the guide: the path, and the JSON.
_ANSWER = re.compile(r"<!-- answer: (\S+) -->\n```json\n(.*?)```\n", re.DOTALL)


@pytest.fixture
def world(settings, explorer):
    """Store a pair with two trades, liquidity, and candles; a node has a block in each WEEK hour."""
    settings.FEED_DEX_KEY, settings.FEED_DEX_NAME = "mypad", "My Pad"
    follow_chain()
    token = make_pair()
    fees = {"type": "static", "clanker_fee": "100", "paired_fee": "100", "hook": None}
    facts = LaunchFacts.objects.get(token=token).facts
    LaunchFacts.objects.update(facts=facts | {"fees": fees})
    add_swap(token, block=110, quote_usd=3000)
    add_swap(token, block=110, log_index=6, is_buy=False, quote_usd=3000)
    add_change(token, block=110, log_index=8, tx_index=9)
    for hour in (2, 3, 5):
        make_candle(token, WEEK + timedelta(hours=hour), hour, hour + 2, hour, hour + 1, seconds=3600)
    # In smallest units, with a token fraction.
    explorer.listed[TOKEN] = [(SENDER, 10**29 - 10**21 + 1), ("0x" + "22" * 20, 10**21 - 1)]
    return token


def test_the_guide_has_the_answers_of_the_service(world):
    guide = GUIDE.read_text(encoding="utf-8")
    made = {path: json.dumps(Client().get(path).json(), indent=1) for path, _ in _ANSWER.findall(guide)}
    assert len(made) == 5
    assert dict(_ANSWER.findall(guide)) == {path: f"{answer}\n" for path, answer in made.items()}


PATHS = {
    f"/api/feeds/{feed}/{{chainId}}/{name}": parameters
    for feed in ("dexscreener", "dextools")
    for name, parameters in {
        "latest-block": {},
        "asset": {"id": TOKEN},
        "pair": {"id": POOL},
        "events": {"fromBlock": 100, "toBlock": 200},
    }.items()
} | {
    "/api/feeds/dextools/{chainId}/asset/holders": {"id": TOKEN},
    "/api/feeds/dextools/{chainId}/block": {"number": 200},
    "/api/feeds/dextools/{chainId}/exchange": {"id": FACTORY},
    "/api/feeds/udf/config": {},
    "/api/feeds/udf/time": {},
    "/api/feeds/udf/search": {"query": "doge"},
    "/api/feeds/udf/symbols": {"symbol": f"{CHAIN}:{TOKEN}"},
    "/api/feeds/udf/history": {"symbol": f"{CHAIN}:{TOKEN}", "resolution": "60", "to": 1767657600},
}


@pytest.mark.parametrize("path", PATHS)
def test_answers_and_errors_are_as_described(client, world, settings, path):
    settings.RPC_URLS = {CHAIN: ("http://127.0.0.1:1",)}
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])

    def check(answer):
        content = document["paths"][path]["get"]["responses"][str(answer.status_code)]["content"]
        schema = content["application/json"]["schema"] | {"components": document["components"]}
        Draft202012Validator(schema).validate(answer.json())

    answer = client.get(path.format(chainId=CHAIN), PATHS[path])
    assert answer.status_code == 200, answer.content
    check(answer)
    settings.FEEDS = ()
    check(client.get(path.format(chainId=CHAIN), PATHS[path]))
    settings.FEEDS = ("dexscreener", "dextools", "udf")
    if PATHS[path]:
        refused = client.get(path.format(chainId=CHAIN), dict.fromkeys(PATHS[path], "\0"))
        assert refused.status_code == 400
        check(refused)


def test_a_day_is_as_described(client, settings, forget_chains, tmp_path):
    chain = SimulatedChain(5, block_seconds=3600)
    chain.mine(40)
    with serve(chain) as node:
        install(chain, node.url, settings=settings, forget=forget_chains, directory=tmp_path)
        follow_chain(first=0, final=32, followed_to=40)
        answer = client.get(f"/api/feeds/daily/{CHAIN}", {"day": "2025-01-01"}).json()
    document = client.get("/api/openapi.json").json()
    content = document["paths"]["/api/feeds/daily/{chainId}"]["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"] | {"components": document["components"]}
    Draft202012Validator(schema).validate(answer)
    assert (answer["firstBlock"], answer["lastBlock"], answer["trades"]) == (0, 23, 0)
