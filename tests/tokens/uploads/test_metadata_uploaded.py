"""Uploads of metadata documents: the rules of a deployment, and one form for the same values."""

import hashlib
import json

import pytest

from tests.tokens.uploads.conftest import METADATA
from tokens.indexing.documents.document_content import parse_document
from tokens.models import Upload

pytestmark = pytest.mark.django_db

DOCUMENT = {
    "symbol": "CALL",
    "name": "Called ☎",
    "image": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    "description": "A token\nof tests",
    "socialMediaUrls": [{"platform": "x", "url": "https://x.com/called"}, "https://called.example"],
    "auditUrls": ["https://audit.example/1"],
}


def test_a_document_is_stored_in_one_form_and_served(client, describe, directory):
    answer = describe(DOCUMENT).json()
    stored = json.dumps(DOCUMENT, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    digest = hashlib.sha256(stored).hexdigest()
    assert answer == {
        "url": f"http://127.0.0.1:8000/uploads/{digest}.json",
        "sha256": digest,
        "bytes": len(stored),
        "mediaType": "application/json",
    }
    # Other orders and nulls have the same document.
    assert describe(dict(reversed(DOCUMENT.items())) | {"auditUrls": DOCUMENT["auditUrls"]}).json() == answer
    served = client.get(f"/uploads/{digest}.json")
    assert served.content == stored and served.headers["Content-Type"] == "application/json"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert Upload.objects.get().kind == "metadata"


def test_the_indexer_reads_a_stored_document(client, describe, directory):
    name = describe(DOCUMENT).json()["url"].rpartition("/")[2]
    read = parse_document(client.get(f"/uploads/{name}").content)
    assert (read["img_url"], read["description"]) == (DOCUMENT["image"], DOCUMENT["description"])
    assert [link["url"] for link in read["socialMediaUrls"]] == ["https://x.com/called", "https://called.example"]


def test_absent_values_are_left_out(client, describe, directory):
    name = describe({"name": "Called", "symbol": "CALL", "description": None}).json()["url"].rpartition("/")[2]
    assert client.get(f"/uploads/{name}").content == b'{"name":"Called","symbol":"CALL"}'


@pytest.mark.parametrize(
    ("change", "field", "rule"),
    [
        ({"name": ""}, "name", "must not be blank"),
        ({"symbol": None}, "symbol", "is required"),
        ({"image": "javascript:alert(1)"}, "image", "must be"),
        ({"image": 5}, "image", "must be"),
        ({"description": "x" * 5_001}, "description", "at most 5000"),
        ({"socialMediaUrls": ["file:///etc/passwd"]}, "socialMediaUrls[0]", "must be"),
        ({"auditUrls": "https://audit.example"}, "auditUrls", "must be a list"),
        ({"tokenAdmin": "0x"}, "tokenAdmin", "is not"),
        (
            {"description": "\u6f22" * 5_000, "auditUrls": [f"https://a.example/{'x' * 1_000}"] * 5},
            "body",
            "16384 bytes",
        ),
    ],
)
def test_a_broken_rule_is_400_and_stores_nothing(describe, directory, change, field, rule):
    refused = describe(DOCUMENT | change)
    assert refused.status_code == 400
    (detail,) = refused.json()["details"]
    assert detail["field"] == field and rule in detail["message"]
    assert not directory.exists() and not Upload.objects.exists()


@pytest.mark.parametrize("body", [[], "text", 5])
def test_a_document_is_an_object(describe, directory, body):
    assert describe(json.dumps(body)).status_code == 400


def test_other_media_types_and_large_bodies_are_refused(client, deploy_key, directory):
    def send(content, form):
        return client.generic("POST", METADATA, content, content_type=form, headers=deploy_key).status_code

    assert send(b"{}", "image/png") == 415 and send(b"{", "application/json") == 400
    assert send(b"{}" + b" " * 1024 * 1024, "application/json") == 413
