"""Uploads of metadata documents: the rules of a deployment, and one form for the same values."""

import hashlib
import json

import pytest

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
