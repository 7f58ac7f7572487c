"""Contents and locations of documents that describe tokens, which are untrusted."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.api.rendering import render_json
from config.http.errors import PermanentError
from tokens.indexing.documents.document_content import parse_document
from tokens.indexing.documents.document_locations import document_urls, inline_document, is_inline
from tokens.indexing.metadata import MAX_LINKS, MAX_TEXT, social_links

CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
V0, V1 = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", CID
GATEWAYS = {"ipfs": ("https://gateway.example/ipfs",), "arweave": ("https://arweave.example",)}
NOTHING = {"description": "", "img_url": "", "socialMediaUrls": []}

texts = st.text("a:/\0\ud800\udc00\u0662")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)
KEYS = [
    "description",
    "image",
    "external_url",
    "properties",
    "files",
    "uri",
    "type",
    "extensions",
    "twitter",
    "telegram",
    "website",
    "discord",
]


def read(value):
    return parse_document(json.dumps(value).encode())


@pytest.mark.parametrize("content", [b"", b"<html>", b"{", b"{'a': 1}", b"[" * 100_000, b"\xff\xfe{}", b'{"a": NaN}'])
def test_what_is_no_json_is_no_document(content):
    with pytest.raises(PermanentError, match="a document that is not JSON"):
        parse_document(content)


@pytest.mark.parametrize("value", [None, 1, "text", [], [{}]])
def test_what_is_no_object_is_no_document(value):
    with pytest.raises(PermanentError, match="a document that is no JSON object"):
        read(value)


def test_it_takes_the_fields_of_metaplex_documents():
    document = {
        "name": "Never taken",
        "symbol": "NEVER",
        "description": "A coffee.",
        "image": f"ipfs://{CID}/a.png",
        "external_url": "https://qahwa.example",
        "properties": {"files": [{"uri": "https://other.example/b.png", "type": "image/png"}]},
        "extensions": {"twitter": "https://x.com/qahwa", "telegram": "https://t.me/qahwa", "discord": "https://d.gg/q"},
    }
    assert read(document) == {
        "description": "A coffee.",
        "img_url": f"ipfs://{CID}/a.png",
        "socialMediaUrls": [
            {"platform": "twitter", "url": "https://x.com/qahwa"},
            {"platform": "telegram", "url": "https://t.me/qahwa"},
            {"platform": "discord", "url": "https://d.gg/q"},
            {"platform": "website", "url": "https://qahwa.example"},
        ],
    }


def test_it_takes_links_at_the_top_each_page_once():
    page = "https://qahwa.example"
    document = {
        "website": page,
        "external_url": f" {page} ",
        "twitter": "https://x.com/q",
        "extensions": {"website": page},
    }
    links = [("website", page), ("twitter", "https://x.com/q")]
    assert read(document)["socialMediaUrls"] == [{"platform": name, "url": url} for name, url in links]


@pytest.mark.parametrize("key", ["description", "image", "external_url", "properties", "extensions", "twitter"])
@pytest.mark.parametrize("value", [None, True, [], {}, ["https://a.example"], {"uri": "https://a.example"}, [[]]])
def test_what_is_of_another_type_is_left_out(key, value):
    assert read({key: value}) == NOTHING


@pytest.mark.parametrize(
    "files",
    ["x", [1, None, {}], [{"uri": 1, "type": "image/png"}], [{"uri": "https://a.example/v", "type": "video/mp4"}]],
)
def test_files_that_are_no_pictures_are_left_out(files):
    assert read({"properties": {"files": files}}) == NOTHING


def test_a_picture_among_the_files_replaces_a_missing_one():
    files = [{"uri": "https://a.example/v.mp4", "type": "video/mp4"}, {"uri": "ar://abc", "type": "image/gif"}]
    assert read({"image": "javascript:alert(1)", "properties": {"files": files}})["img_url"] == "ar://abc"


@pytest.mark.parametrize(
    "image",
    [
        "javascript:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "image.png",
        "//a.example",
        "file:///etc/passwd",
        "",
    ]
    + ["data:image/png;base64," + "A" * MAX_TEXT, "https://a.example/" + "a" * MAX_TEXT, "java\nscript:x", "blob:a"],
)
def test_an_image_that_no_page_can_show_is_left_out(image):
    assert read({"image": image})["img_url"] == ""


@pytest.mark.parametrize(
    "image", ["https://a.example/p.png", "http://a.example/p", f"ipfs://{CID}", "ar://x", "data:image/png;base64,AAAA"]
)
def test_an_image_is_kept_as_it_is_given(image):
    assert read({"image": f" {image}\n"})["img_url"] == image


@pytest.mark.parametrize("url", ["javascript:alert(1)", " JavaScript:alert(1)", "java\tscript:x", "data:text/html,x"])
def test_a_link_that_runs_something_is_left_out(url):
    assert read({"twitter": url, "extensions": {"website": url}, "external_url": url}) == NOTHING


def test_texts_are_cut_and_lose_what_postgresql_refuses():
    content = (
        b'{"description": "a\\u0000b\\ud800c' + b"d" * 20_000 + b'", "twitter": "https://x.com/\\ud83d\\ude00\\u0000"}'
    )
    parsed = parse_document(content)
    assert parsed["description"] == "ab\ufffdc" + "d" * (MAX_TEXT - 4)
    assert parsed["socialMediaUrls"] == [{"platform": "twitter", "url": "https://x.com/\U0001f600"}]


@given(st.dictionaries(st.sampled_from(KEYS), anything))
def test_whatever_a_document_holds_every_answer_can_carry(value):
    parsed = read(value)
    assert set(parsed) == set(NOTHING)
    assert len(parsed["description"]) <= MAX_TEXT and len(parsed["socialMediaUrls"]) <= MAX_LINKS
    assert "\0" not in render_json(parsed).decode()
    assert len(social_links(parsed)) == len(parsed["socialMediaUrls"])


@pytest.mark.parametrize(
    ("uri", "url"),
    [
        ("https://host.example/a?b#c", "https://host.example/a?b#c"),
        ("HTTP://host.example", "HTTP://host.example"),
        (f"https://other.example/ipfs/{CID}", f"https://other.example/ipfs/{CID}"),
        (f"ipfs://{CID}", f"https://gateway.example/ipfs/{CID}"),
        (f"ipfs://ipfs/{CID}/meta data.json#x", f"https://gateway.example/ipfs/{CID}/meta data.json"),
        (f"IPFS://{CID}/a/b.json?filename=c", f"https://gateway.example/ipfs/{CID}/a/b.json?filename=c"),
        (f"ipfs://{CID}?filename=a.png", f"https://gateway.example/ipfs/{CID}?filename=a.png"),
        (f"ipfs://{CID}/?x=..", f"https://gateway.example/ipfs/{CID}/?x=.."),
        *(
            (form, f"https://gateway.example/ipfs/{CID}/a")
            for form in (
                f"{CID}/a",
                f"/ipfs/{CID}/a",
                f"ipfs/{CID}/a",
                f"ipfs:/{CID}/a",
                f"ipfs:{CID}/a",
                f"ipfs:///{CID}/a",
                f"ipfs:/ipfs/{CID}/a",
                f"ipfs:///ipfs/{CID}/a",
            )
        ),
        *((cid, f"https://gateway.example/ipfs/{cid}") for cid in (V0, V1)),
        (f"{V1}?a", f"https://gateway.example/ipfs/{V1}?a"),
        ("ar://" + "a-_" * 14 + "b", "https://arweave.example/" + "a-_" * 14 + "b"),
    ],
)
def test_a_document_is_at_its_uri(uri, url):
    assert document_urls(uri, **GATEWAYS) == [url]


@pytest.mark.parametrize(
    "uri",
    ["", "ipfs://", "ipfs://../../admin", f"ipns://{CID}", "a" * 59, "ar://short", "javascript:x", "file:///etc/passwd"]
    + [
        "ftp://host.example",
        f"ipfs://{CID}@host.example/",
        f"ipfs://{CID}:80/",
        f"{V0}x",
        f"//ipfs/{V0}",
        "ipfs://ipfs/ipfs/x",
    ],
)
def test_other_uris_name_no_document(uri):
    with pytest.raises(PermanentError, match="a URI that is not"):
        document_urls(uri, **GATEWAYS)


@pytest.mark.parametrize("path", ["..", "a/../../b", ".", "%2e%2e/x", "..\\x", "a/%2E%2E%2Fx", "a%5c..%5cx"])
def test_no_uri_leads_out_of_the_gateways_directory(path):
    with pytest.raises(PermanentError, match="in its path"):
        document_urls(f"ipfs://{CID}/{path}", **GATEWAYS)


@pytest.mark.parametrize(
    ("uri", "setting"), [(f"ipfs://{CID}", "IPFS_GATEWAY_URL"), ("ar://" + "a" * 43, "ARWEAVE_GATEWAY_URL")]
)
def test_without_a_gateway_it_reports_it(uri, setting):
    with pytest.raises(PermanentError, match=f"{setting} is off"):
        document_urls(uri, ipfs=(), arweave=())


def test_a_document_may_be_inside_its_uri():
    packed = base64.b64encode(b'{"a": 1}').decode()
    for uri in (f"data:application/json;base64,{packed}", f"DATA:text/json;charset=utf-8;BASE64,{packed}"):
        assert is_inline(uri) and inline_document(uri) == b'{"a": 1}'
    assert inline_document("data:application/json,%7B%22a%22%3A1%7D") == b'{"a":1}'


@pytest.mark.parametrize(
    "uri", ["data:text/html,x", "data:", "data:application/json;base64", "data:,x", "data:image/png,x"]
)
def test_a_uri_of_something_else_is_no_document(uri):
    with pytest.raises(PermanentError, match="not of JSON"):
        inline_document(uri)


def test_a_uri_whose_base64_is_wrong_is_no_document():
    with pytest.raises(PermanentError, match="base64"):
        inline_document("data:application/json;base64,@@@")
