"""The site for language models: `/llms.txt`, the skill, and pages as Markdown."""

import json
import re

import pytest

from config.environment.issuers import read_issuers
from config.mcp.tools import installed_tools
from tests.processes.example_code import read_examples
from tests.rows.factories import TokenFactory
from tokens.site.agent_guides import Site, skill, skill_name

pytestmark = pytest.mark.django_db

SITE = "https://launch.example.org"
TEXTS = {
    "/docs.md": "text/markdown; charset=utf-8",
    "/docs/api.md": "text/markdown; charset=utf-8",
    "/docs/skill.md": "text/markdown; charset=utf-8",
    "/llms.txt": "text/plain; charset=utf-8",
    "/llms-full.txt": "text/plain; charset=utf-8",
}


@pytest.fixture(autouse=True)
def _own_host(settings):
    settings.SITE_URL, settings.SITE_NAME = SITE, "Hoist & Co"


@pytest.mark.parametrize(("path", "kind"), TEXTS.items())
def test_they_are_public_texts_that_caches_keep(client, settings, path, kind):
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
    assert answer.headers["Cache-Control"] == "public, s-maxage=60"
    assert path.startswith(settings.EDGE_CACHE_PREFIXES)
    assert client.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert client.post(path).status_code == 405
    # No text has HTML.
    assert not re.search(r"<(p|a|div|main)\b|&amp;|&#x27;", answer.text)
    settings.SITE_SECTIONS = frozenset()
    assert client.get(path).status_code == 404


def test_the_page_of_docs_as_markdown_has_all_its_texts_and_examples(client):
    token = TokenFactory(chain_id=1)
    page, text = client.get("/docs").text, client.get("/docs.md").text
    assert text.startswith("# Start with the API\n\n")
    for (task, _), code in read_examples(page).items():
        assert code.strip() in text, task
    assert token.contract_address in text and "Limits and errors" in text
    assert f"[reference]({SITE}/api/docs)" in text and "Language of the examples" not in text
    assert text.count("```bash") == text.count("```python") == text.count("```typescript")
    assert '<link rel="alternate" type="text/markdown" href="/docs.md">' in page


def test_the_page_as_markdown_is_in_the_language_of_its_path(client):
    german = client.get("/de/docs.md").text
    assert german.startswith("# Mit der API anfangen") or german.splitlines()[0] != "# Start with the API"
    assert 'href="/de/docs.md"' in client.get("/de/docs").text


def test_texts_for_models_are_english_whatever_the_first_language_is(client, settings):
    english = {path: client.get(path).text for path in TEXTS if path != "/docs.md"}
    settings.SITE_LANGUAGES = ("de", "en")
    assert {path: client.get(path).text for path in english} == english


def test_the_index_names_each_text_and_each_tool(client):
    text = client.get("/llms.txt").text
    lines = text.splitlines()
    assert lines[0] == "# Hoist & Co" and lines[2].startswith("> Tokens ")
    assert {line for line in lines if line.startswith("## ")} == {"## Docs", "## Model Context Protocol", "## Optional"}
    links = re.findall(r"\]\((\S+)\)", text)
    assert links and all(link.startswith(f"{SITE}/") for link in links)
    for link in links:
        assert client.get(link.removeprefix(SITE)).status_code == 200
    for name, tool in installed_tools().items():
        assert f"- `{name}`" in text and tool.entry.hint in text
    assert "`index_transaction` (a key with the scope index)" in text and "`create_pretoken` (a user's token)" in text


def test_the_whole_text_has_all_documents(client):
    whole = client.get("/llms-full.txt").text
    for path in ("/llms.txt", "/docs.md", "/docs/api.md"):
        assert client.get(path).text in whole


def test_the_skill_has_the_metadata_of_its_format(client):
    text = client.get("/docs/skill.md").text
    start, metadata, body = text.split("---\n", 2)
    name, description = metadata.splitlines()
    assert (start, name) == ("", "name: hoist-co-tokens")
    described = json.loads(description.removeprefix("description: "))
    assert "Hoist & Co (launch.example.org)" in described and 0 < len(described) <= 1_024
    assert body.startswith("\n# Hoist & Co\n") and re.sub("```.*?```", "", body, flags=re.S).count("\n# ") == 1
    assert f"{SITE}/mcp" in body and "```bash" in body and "`search_tokens`" in body
    assert "```python" not in body and "```typescript" not in body


def test_the_skill_stays_short_with_all_tasks(client, settings):
    settings.RPC_URLS, settings.UPLOAD_STORAGE = {8453: ("http://127.0.0.1:9",)}, "directory"
    settings.FEEDS = ("udf", "dexscreener", "dextools", "daily")
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=SITE)
    # The format recommends at most 500 lines.
    assert len(client.get("/docs/skill.md").text.splitlines()) <= 500


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("Launchboard", "launchboard-tokens"),
        ("  A -- b_c  ", "a-b-c-tokens"),
        ("猫", "launchboard-tokens"),
        ("Claude's pad", "launchboard-tokens"),
        ("Anthropic", "launchboard-tokens"),
        ("x" * 200, "x" * 57 + "-tokens"),
    ],
)
def test_the_name_of_the_skill_is_one_of_the_format(site, name):
    assert skill_name(site) == name
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= 64


def test_a_name_can_end_no_line_of_the_metadata():
    text = skill(Site('A\n---\n# "x": y', SITE), [], "# Docs\n\nText\n")
    metadata = text.split("---\n", 2)[1]
    assert len(metadata.splitlines()) == 2 and '\\"x\\": y' in metadata
