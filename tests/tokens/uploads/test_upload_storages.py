"""Upload storages: S3-like with signatures, IPFS by a pinning node, and what happens while they fail."""

import base64
import hashlib
import os
import time
from pathlib import Path

import base58
import pytest
from django.conf import settings as configured

from config.doctor.findings import Level
from config.environment.secret import Secret
from tests.nodes.upload_stores import BUCKET, raw_cid
from tests.rows.pictures import GREEN, RED, encoded, plain_picture
from tokens.checks import check_uploads
from tokens.models import Upload
from tokens.uploads import diagnostics
from tokens.uploads.pinning_storage import decode_cid, is_cid_of
from tokens.uploads.stored_uploads import block_uploads

pytestmark = pytest.mark.django_db

PICTURE = encoded(plain_picture(GREEN, (300, 200)))
OTHER = encoded(plain_picture(RED))
UNAVAILABLE = {"error": "The storage of uploads is not available"}


def findings(now=None):
    return [(finding.level, finding.summary) for finding in diagnostics.storage(now)]


def test_an_object_is_put_with_a_signature_once(upload, s3):
    answer = upload(PICTURE).json()
    name = f"{answer['sha256']}.webp"
    assert answer["url"] == f"https://cdn.example/launches/{name}"
    assert upload(PICTURE).json() == answer
    assert s3.received == [f"PUT /{BUCKET}/{name}"]
    stored, sent = s3.held[f"/{BUCKET}/{name}"], s3.headers[f"/{BUCKET}/{name}"]
    assert hashlib.sha256(stored).hexdigest() == answer["sha256"]
    assert sent["content-type"] == "image/webp" and "immutable" in sent["cache-control"]
    assert "authorization" in sent and "x-api-key" not in sent


def test_a_wrong_secret_is_503_and_logged_without_it(upload, s3, settings, caplog):
    settings.UPLOAD_S3_SECRET = Secret("another-secret")
    refused = upload(PICTURE)
    assert (refused.status_code, refused.json()) == (503, UNAVAILABLE) and refused.headers["Retry-After"] == "30"
    assert not s3.held and not Upload.objects.exists()
    assert "HTTP status 403" in caplog.text
    assert "another-secret" not in caplog.text and s3.url not in caplog.text


def test_a_blocked_object_is_deleted(upload, s3):
    upload(PICTURE)
    assert block_uploads(Upload.objects.all()) == [] and not s3.held
    assert s3.received[-1].startswith("DELETE ")
    assert upload(PICTURE).status_code == 403


def test_a_missing_object_is_deleted_and_one_in_a_missing_bucket_is_not(upload, s3, settings):
    upload(PICTURE)
    s3.status = 404
    assert block_uploads(Upload.objects.all()) == []
    s3.status, settings.UPLOAD_S3_BUCKET = 0, "other"
    assert len(block_uploads(Upload.objects.all())) == 1


def test_a_picture_is_pinned_and_its_cid_verified(upload, describe, pinning):
    answer = upload(PICTURE).json()
    cid = answer["url"].removeprefix("ipfs://")
    assert answer["sha256"] == hashlib.sha256(pinning.held[cid]).hexdigest() and cid == raw_cid(pinning.held[cid])
    assert upload(PICTURE).json() == answer and len(pinning.received) == 1
    document = describe({"name": "Called", "symbol": "CALL", "image": answer["url"]}).json()
    assert pinning.held[document["url"].removeprefix("ipfs://")].startswith(b'{"image":"ipfs://')


def test_a_blocked_file_is_unpinned_and_a_missing_pin_is_no_error(upload, pinning):
    upload(PICTURE)
    assert block_uploads(Upload.objects.all()) == [] and not pinning.held
    assert block_uploads(Upload.objects.all()) == []
    pinning.status = 500
    assert len(block_uploads(Upload.objects.all())) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{}",
        b"[]",
        b"<html>",
        b'{"Hash":"Qm"}',
        b'{"Hash":5}',
        b'{"Hash":"../../etc"}',
        b'{"Hash":"%s"}' % raw_cid(b"other bytes").encode(),
        b'{"Hash":"QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o"}',
    ],
)
def test_a_response_without_the_cid_is_503(upload, pinning, answer):
    pinning.answer = answer
    assert upload(PICTURE).status_code == 503
    assert not Upload.objects.exists()


def test_the_cid_of_a_file_of_one_block_has_its_digest():
    # Kubo's CIDs: version 0, version 1, and one raw block.
    empty, hello_line = (
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o",
    )
    assert is_cid_of(empty, b"") and is_cid_of(hello_line, b"hello world\n")
    assert not is_cid_of(empty, b"hello world\n") and not is_cid_of(hello_line, b"hello world")
    multihash = base58.b58decode(hello_line)
    first = "b" + base64.b32encode(b"\x01\x70" + multihash).decode().rstrip("=").lower()
    assert is_cid_of(first, b"hello world\n") and not is_cid_of(first, b"hello world")
    hello = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    assert is_cid_of(hello, b"hello world") and not is_cid_of(hello, b"hello worlds")


def test_the_cid_of_a_tree_can_not_be_computed():
    tree = "b" + base64.b32encode(b"\x01\x70\x12\x20" + b"\7" * 32).decode().rstrip("=").lower()
    assert is_cid_of(tree, b"x" * 262_145) and not is_cid_of(tree, b"x" * 262_144)
    assert not is_cid_of(raw_cid(b"other bytes"), b"x" * 262_145)


def test_a_text_that_is_no_cid_is_refused():
    hello = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    for wrong in ("", hello.upper(), hello[:-1], f"{hello}a", "Qm" + "1" * 44, "b" + "a" * 58, "é" * 59):
        assert decode_cid(wrong) is None


@pytest.mark.parametrize("name", ["s3", "pinning"])
def test_a_slow_storage_is_503_and_opens_its_circuit(request, upload, settings, name):
    store = request.getfixturevalue(name)
    settings.UPLOAD_TIMEOUT_SECONDS = 0.1
    store.responds.clear()
    for _ in range(4):
        assert upload(PICTURE).status_code == 503
    assert len(store.received) == 3
    began = time.monotonic()
    assert upload(PICTURE).json() == UNAVAILABLE and time.monotonic() - began < 10
    assert len(store.received) == 3 and not Upload.objects.exists()


def test_a_former_storage_that_fails_does_not_stop_uploads(upload, s3, settings, tmp_path):
    upload(PICTURE)
    s3.status = 500
    for _ in range(4):
        assert len(block_uploads(Upload.objects.all())) == 1
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path
    assert upload(OTHER).status_code == 200


def test_known_files_need_no_storage(upload, s3):
    answer = upload(PICTURE).json()
    s3.status = 500
    assert upload(PICTURE).json() == answer
    assert upload(OTHER).status_code == 503 and Upload.objects.count() == 1
    s3.status = 0
    assert upload(OTHER).status_code == 200


def test_a_directory_that_is_full_or_closed_is_503(upload, settings, tmp_path):
    """No user can make a file in /proc, or a directory below a file."""
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", Path("/proc/uploads")
    assert upload(PICTURE).status_code == 503
    settings.UPLOAD_DIR = tmp_path / "file"
    settings.UPLOAD_DIR.write_bytes(b"")
    assert upload(PICTURE).status_code == 503
    assert not Upload.objects.exists() and settings.UPLOAD_DIR.read_bytes() == b""


def test_nothing_is_left_of_a_file_that_can_not_be_renamed(upload, settings, tmp_path):
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path
    digest = upload(PICTURE).json()["sha256"]
    path = tmp_path / digest[:2] / f"{digest}.webp"
    path.unlink()
    # A directory in the file's place: the rename fails.
    path.mkdir()
    assert upload(PICTURE).status_code == 503
    assert os.listdir(path.parent) == [path.name]


def test_the_storage_of_a_row_stays_when_the_setting_changes(client, upload, s3, settings, tmp_path):
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR, settings.UPLOAD_PUBLIC_URL = "directory", tmp_path, ""
    answer = upload(PICTURE).json()
    settings.UPLOAD_STORAGE = "s3"
    (file,) = tmp_path.rglob("*.webp")
    for _ in range(2):
        assert upload(PICTURE).json() == answer and file.is_file() and s3.received == []
        # A lost file is stored again where the row says.
        file.unlink()
    assert upload(PICTURE).status_code == 200
    settings.UPLOAD_STORAGE = "off"
    path = f"/uploads/{answer['sha256']}.webp"
    assert client.get(path).status_code == 200
    block_uploads(Upload.objects.all())
    blocked = client.get(path)
    assert blocked.status_code == 410 and blocked.headers["Cache-Control"] == "no-store"
    assert not list(tmp_path.rglob("*.webp"))


@pytest.mark.parametrize("name", ["directory", "s3", "pinning"])
def test_the_doctor_writes_and_leaves_nothing(request, name):
    store = request.getfixturevalue(name)
    (level, found), *more = findings()
    assert (level, found) == (Level.OK, f"The storage of uploads ({name}) is writable.")
    assert bool(more) == (name == "directory") and all("http://" in text for _, text in more)
    assert list(store.iterdir()) == [] if name == "directory" else not store.held


def test_the_doctor_names_a_storage_that_fails(settings, s3, pinning):
    settings.UPLOAD_PINNING_TOKEN = Secret("")
    assert findings() == [(Level.ERROR, "The storage of uploads (pinning) can't be written: HTTP status 403.")]
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", Path("/proc/uploads")
    ((level, text),) = findings()
    assert level == Level.ERROR and "(directory) can't be written" in text
    settings.UPLOAD_STORAGE, settings.UPLOAD_S3_SECRET = "s3", Secret("")
    assert findings() == [(Level.ERROR, "The storage of uploads (s3) can't be written: UPLOAD_S3_SECRET is not set.")]
    settings.UPLOAD_STORAGE = "off"
    assert findings() == [(Level.OK, "Uploads are off.")]


def test_missing_settings_are_errors_of_the_start(settings):
    assert configured.UPLOAD_STORAGE == "off" and check_uploads() == []
    settings.UPLOAD_STORAGE = "s3"
    missing = ("UPLOAD_S3_URL", "UPLOAD_S3_BUCKET", "UPLOAD_S3_KEY_ID", "UPLOAD_S3_SECRET", "UPLOAD_PUBLIC_URL")
    assert [error.msg for error in check_uploads()] == [
        f"UPLOAD_STORAGE is s3, and {name} is not set." for name in missing
    ]
    settings.UPLOAD_STORAGE, settings.UPLOAD_PINNING_URL = "pinning", "http://127.0.0.1:5001"
    assert check_uploads() == []
