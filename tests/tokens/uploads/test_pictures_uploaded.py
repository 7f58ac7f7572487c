"""Uploads of pictures: encoded anew, stored once by their digest, and limited."""

import asyncio
import hashlib
import json
from datetime import timedelta

import pytest
from django.utils import timezone
from PIL import Image

from accounts.keys import credentials
from accounts.models import Scope
from config.edge.request_bodies import BodyMemory
from config.processes.concurrency_limits import document_slot, picture_slot
from tests.processes.at_once import call_at_once
from tests.processes.waiting import wait_for
from tests.rows.pictures import (
    BLUE,
    GREEN,
    RED,
    decoded,
    encoded,
    long_animation,
    plain_picture,
)
from tests.tokens.uploads.conftest import METADATA, PICTURES
from tokens.models import Upload
from tokens.uploads import stored_uploads
from tokens.uploads.views import MAX_PICTURE_BYTES

pytestmark = pytest.mark.django_db

PICTURE = encoded(plain_picture(GREEN, (300, 200)))


def stored_names(directory):
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


def test_a_picture_is_stored_once_and_served(client, upload, directory, django_assert_num_queries):
    first = upload(PICTURE)
    assert first.status_code == 200, first.content
    answer = first.json()
    name = f"{answer['sha256']}.webp"
    assert answer == {
        "url": f"http://127.0.0.1:8000/uploads/{name}",
        "sha256": answer["sha256"],
        "bytes": answer["bytes"],
        "mediaType": "image/webp",
        "width": 300,
        "height": 200,
    }
    # The same pixels from another file and key.
    stranger = {"x-api-key": credentials.issue_key("Stranger", scopes=[Scope.DEPLOY])}
    assert upload(encoded(plain_picture(GREEN, (300, 200)), "WEBP", lossless=True), "image/webp", stranger).json() == (
        answer
    )
    row = Upload.objects.get()
    assert (row.kind, row.storage, row.size, row.url) == ("picture", "directory", answer["bytes"], answer["url"])
    assert row.partner_key.name == "Launcher" and stored_names(directory) == [name]
    with django_assert_num_queries(1):
        served = client.get(f"/uploads/{name}")
    assert hashlib.sha256(served.content).hexdigest() == answer["sha256"] and len(served.content) == answer["bytes"]
    assert served.headers["Content-Type"] == "image/webp"
    assert served.headers["Cache-Control"] == "public, s-maxage=300, max-age=31536000, immutable"
    assert served.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert served.headers["Access-Control-Allow-Origin"] == "*" and not served.cookies
    again = client.get(f"/uploads/{name}", headers={"If-None-Match": served.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "name", ["nothing", "0" * 64, f"{'0' * 64}.webp", f"{'0' * 64}.webp%0A", "%00.webp", "..%2f..%2fetc%2fpasswd"]
)
def test_an_unknown_file_is_404(client, directory, name):
    assert client.get(f"/uploads/{name}").status_code == 404


def test_a_known_digest_has_one_name(client, upload, directory):
    digest = upload(PICTURE).json()["sha256"]
    for name in (digest, f"{digest}.json", f"{digest}.webp.webp", f"{digest.upper()}.webp"):
        assert client.get(f"/uploads/{name}").status_code == 404


def test_metadata_and_trailing_code_are_dropped_and_the_picture_is_turned(upload, directory):
    picture = plain_picture(RED, (2000, 1000))
    picture.paste(BLUE, (0, 0, 100, 1000))
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[2] = (48.0, 51.0, 24.0)
    given = encoded(picture, "JPEG", exif=exif, comment=b"secret place") + b"<script>alert(1)</script>"
    answer = upload(given, "image/jpeg").json()
    (path,) = (path for path in directory.rglob("*.webp"))
    body = path.read_bytes()
    assert (answer["width"], answer["height"]) == (512, 1024) == decoded(body).size
    assert b"EXIF" not in body and b"secret" not in body and b"script" not in body
    with Image.open(path) as stored:
        assert not stored.getexif() and stored.format == "WEBP" and getattr(stored, "n_frames", 1) == 1


def test_of_an_animation_the_first_frame_is_stored(upload, directory):
    assert upload(long_animation(100), "image/gif").status_code == 200
    (path,) = directory.rglob("*.webp")
    with Image.open(path) as stored:
        assert stored.n_frames == 1


def test_the_content_decides_on_the_format(upload, directory):
    assert upload(PICTURE, "image/jpeg; charset=binary").status_code == 200


def test_a_body_over_the_limit_is_413(client, upload, directory):
    limit = MAX_PICTURE_BYTES
    assert upload(b"\0" * limit).status_code == 400
    assert upload(b"\0" * (limit + 1)).status_code == 413
    # Its length is refused before it is read.
    declared = {"CONTENT_LENGTH": str(limit + 1)}
    assert client.generic("POST", PICTURES, b"x", "image/png", headers=key(), **declared).status_code == 413


@pytest.mark.parametrize("declared", [True, False])
def test_the_server_reads_no_more_than_the_limit(declared):
    limit, sent = MAX_PICTURE_BYTES, []
    head = {"CONTENT_LENGTH": str(limit + 1)} if declared else {"HTTP_TRANSFER_ENCODING": "chunked"}

    async def endless():
        while True:
            sent.append(65_536)
            yield b"\0" * 65_536

    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": PICTURES, "REMOTE_ADDR": "192.0.2.1"}
    with BodyMemory(64 * 2**20).body(environ | head, timeout=60) as body:
        content, length = asyncio.run(body.read(endless()))
    assert (length, len(content)) == (limit + 1, 0 if declared else limit + 1)
    assert sum(sent) <= (0 if declared else limit + 65_536)


def key(*scopes):
    return {"x-api-key": credentials.issue_key("Other", scopes=list(scopes) or [Scope.DEPLOY])}


@pytest.mark.parametrize("path", [PICTURES, METADATA])
def test_uploads_are_off_by_default(client, settings, path):
    assert settings.UPLOAD_STORAGE == "off"
    answer = client.generic("POST", path, PICTURE, "image/png", headers=key())
    assert (answer.status_code, answer.json()) == (404, {"error": "Uploads are off on this installation"})
    assert client.generic("POST", path, PICTURE, "image/png").status_code == 401
    assert client.generic("POST", path, PICTURE, "image/png", headers=key(Scope.READ)).status_code == 403


def test_each_key_has_a_limit_a_minute(upload, directory, settings):
    settings.RATE_LIMIT_UPLOAD = 2
    assert [upload(PICTURE).status_code for _ in range(3)] == [200, 200, 429]
    assert upload(PICTURE, headers=key()).status_code == 200


def test_the_bytes_of_a_day_are_limited_and_known_files_are_free(upload, describe, directory, settings):
    size = upload(PICTURE).json()["bytes"]
    settings.UPLOAD_DAILY_BYTES = size + 10
    refused = upload(encoded(plain_picture(RED)))
    assert refused.status_code == 429 and 0 < int(refused.headers["Retry-After"]) <= 86_400
    text = f"A key may upload {size + 10} bytes of new files a day in UTC, and this one would exceed them"
    assert refused.json() == {"error": text}
    assert describe({"name": "Called", "symbol": "CALL"}).status_code == 429
    assert upload(PICTURE).status_code == 200 and len(stored_names(directory)) == 1
    # Each key has its own bytes for each day; 0 is no limit.
    settings.UPLOAD_DAILY_BYTES = 2 * size
    assert upload(encoded(plain_picture(BLUE, (9, 9))), headers=key()).status_code == 200
    assert upload(encoded(plain_picture(RED, (300, 200)))).status_code == 429
    Upload.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert upload(encoded(plain_picture(RED, (9, 9)))).status_code == 200
    settings.UPLOAD_DAILY_BYTES = 0
    assert upload(encoded(plain_picture(RED, (800, 800)))).status_code == 200


def test_a_lost_file_is_stored_again(client, upload, directory):
    answer = upload(PICTURE).json()
    (path,) = (path for path in directory.rglob("*.webp"))
    path.unlink()
    assert client.get(f"/uploads/{path.name}").status_code == 404
    assert upload(PICTURE).json() == answer and path.is_file()
    assert Upload.objects.count() == 1


def test_a_full_slot_is_503_and_documents_have_their_own(upload, describe, directory):
    with picture_slot():
        busy = upload(PICTURE)
        assert describe({"name": "Called", "symbol": "CALL"}).status_code == 200
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "1")
    with document_slot():
        assert upload(PICTURE).status_code == 200
        assert describe({"name": "Called", "symbol": "CALL"}).status_code == 503


@pytest.mark.django_db(transaction=True)
def test_concurrent_equal_uploads_are_one_file(directory, deploy_key):
    partner = credentials.verify_key(deploy_key["x-api-key"])
    saved = call_at_once([lambda: stored_uploads.save_picture(PICTURE, partner=partner)] * 2)
    assert len({each.upload.pk for each in saved}) == 1
    assert len(stored_names(directory)) == Upload.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_row_of_the_same_bytes_is_taken(s3, deploy_key):
    """Both processes find no row, and store; the second row is the first one's."""
    partner = credentials.verify_key(deploy_key["x-api-key"])
    s3.responds.clear()
    content = json.dumps({"name": "Called", "symbol": "CALL"}, separators=(",", ":"), sort_keys=True).encode()
    digest = hashlib.sha256(content).hexdigest()

    def insert_first():
        wait_for(lambda: s3.received)
        Upload.objects.create(
            partner_key=partner, digest=digest, kind="metadata", storage="s3", size=len(content), url="https://first"
        )
        s3.responds.set()

    first, _ = call_at_once(
        [lambda: stored_uploads.save_metadata({"name": "Called", "symbol": "CALL"}, partner=partner), insert_first]
    )
    assert first.url == "https://first" and Upload.objects.count() == 1
