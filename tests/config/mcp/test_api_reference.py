"""The API's reference as Markdown: every operation with its access, parameters, body and errors."""

import orjson
import pytest

from config.api.openapi_views import openapi_document
from config.mcp.api_reference import api_reference

SITE = "https://launch.example"


@pytest.fixture(scope="module")
def sections():
    """Return the text of each operation's section by its heading."""
    parts = api_reference(SITE).split("\n## ")
    return dict(part.split("\n", 1) for part in parts[1:]) | {"": parts[0]}


def test_it_has_every_operation(sections):
    paths = orjson.loads(openapi_document())["paths"]
    names = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert set(sections) == names | {""}
    assert sections[""].startswith(f"# API of {SITE}") and f"{SITE}/api/openapi.json" in sections[""]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "GET /api/tokens",
            [
                "Access: public.",
                "- `limit` (query, integer 0 to 20, default `10`): With 0 only the counts.",
                "- `q` (query, string up to 100 characters)",
                "- `startDate` (query, integer from 0)",
                "- `fids` (query, array up to 100 items of integer from 1)",
                "- `sort` (query, `desc` or `asc`, default `desc`)",
                "- `data` (array)",
                "  - `contract_address` (string)",
            ],
        ),
        (
            "GET /api/tokens/{chainId}/{address}/trades",
            [
                "- `address` (path, string, required): A launched token; on Solana its mint.",
                "  - `side` (`buy` or `sell`)",
                "- 404: There is no such record.",
            ],
        ),
        (
            "POST /api/tokens/index",
            [
                "Access: a key in the header `x-api-key` with the scope `index`.",
                "Body:",
                "- `addresses` (array, optional)",
            ],
        ),
        ("POST /api/webhooks", ["- `types` (array up to 11 items of `deployment.failed` or `deployment.submitted` or"]),
        ("POST /api/tokens/deploy", ["  - `baseFee` (number 0.25 to 5, optional)"]),
        ("GET /api/pretoken/pending", ["Access: a user's token as `Authorization: Bearer`."]),
        (
            "GET /api/droid/leaderboard",
            [
                "Access: a user's token as `Authorization: Bearer`, or an administrator's cookie, or no credential.",
            ],
        ),
        ("GET /api/tokens/search", ["Deprecated. Access: public."]),
    ],
)
def test_a_section_has_what_a_caller_needs(sections, name, lines):
    missing = [line for line in lines if not any(found.startswith(line) for found in sections[name].splitlines())]
    assert missing == [], sections[name]


def test_it_is_short_enough_for_a_model_and_plain():
    text = api_reference(SITE)
    assert len(text) < 159_000
    assert "<a " not in text and "$ref" not in text and "`None`" not in text
    assert "* `" not in text
