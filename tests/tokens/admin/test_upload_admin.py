"""The admin page of uploads: search by digest, a link to the file, and blocks."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from tests.config.operators.admin_pages import messages, page_of
from tests.rows.factories import IndexRequestFactory, UploadFactory
from tokens.models import Upload

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:tokens_upload_changelist")
CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"


@pytest.fixture
def make(settings, tmp_path):
    """Return a function that makes an upload with its file in the directory."""
    settings.UPLOAD_DIR = tmp_path

    def make(**columns):
        upload = UploadFactory(**columns)
        path = tmp_path / upload.digest[:2] / upload.file_name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"picture")
        return upload

    return make


def found(client, text):
    return set(client.get(PAGE, {"q": text}).context["cl"].queryset)


def act(client, name, *uploads):
    chosen = [upload.pk for upload in uploads]
    return client.post(PAGE, {"action": name, "_selected_action": chosen}, follow=True).content.decode()


def test_uploads_are_found_by_digest_and_url(support, make):
    one, other = make(), make(storage="pinning", url=f"ipfs://{CID}")
    assert found(support, one.digest.upper()) == {one} == found(support, one.url)
    assert found(support, other.url) == {other} and found(support, one.digest[:40]) == set()
    page = support.get(f"{PAGE}{one.pk}/change/").content.decode()
    assert f'href="{one.url}"' in page and one.partner_key.name in page
    assert f'href="https://ipfs.io/ipfs/{CID}"' in support.get(f"{PAGE}{other.pk}/change/").content.decode()


def test_view_permission_blocks_nothing(support, make, tmp_path):
    upload = make()
    act(support, "block", upload)
    assert support.post(f"{PAGE}{upload.pk}/block/").status_code == 403
    assert Upload.objects.get().blocked_at is None and list(tmp_path.rglob("*.webp"))


def test_a_block_deletes_the_file_and_is_logged(operator, make, tmp_path):
    upload, other = make(), make()
    assert "1 blocked." in act(operator, "block", upload)
    upload.refresh_from_db()
    assert upload.blocked_at and [path.stem for path in tmp_path.rglob("*.webp")] == [other.digest]
    assert LogEntry.objects.get().change_message == "block"
    blocked_at = upload.blocked_at
    assert "1 blocked." in act(operator, "block", upload)
    upload.refresh_from_db()
    assert upload.blocked_at == blocked_at


def test_a_file_that_stays_is_reported(operator, make, settings):
    upload = make()
    settings.UPLOAD_DIR = "/proc/self/cmdline"
    assert "Files that the storage did not delete: 1" in act(operator, "block", upload)
    assert Upload.objects.get().blocked_at


def test_files_in_a_storage_without_settings_are_reported_and_the_others_deleted(operator, make, tmp_path):
    uploads = [make(storage="s3"), make(storage="pinning", url=f"ipfs://{CID}"), make()]
    page = act(operator, "block", *uploads)
    assert "3 blocked." in page and "Files that the storage did not delete: 2" in page
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["block"] * 3
    assert not list((tmp_path / uploads[2].digest[:2]).glob(f"{uploads[2].digest}*"))


def test_a_block_is_confirmed_on_the_row_and_reversed_by_allowing(operator, make):
    upload = make()
    assert "IPFS only the pin is removed" in operator.get(f"{PAGE}{upload.pk}/block/").content.decode()
    assert Upload.objects.get().blocked_at is None
    assert "1 may" not in act(operator, "allow", upload) and Upload.objects.exists()
    answer = operator.post(f"{PAGE}{upload.pk}/block/", follow=True)
    assert answer.redirect_chain == [(page_of(upload), 302)] and messages(answer) == ["1 blocked."]
    assert Upload.objects.get().blocked_at
    answer = operator.post(f"{PAGE}{upload.pk}/allow/", follow=True)
    assert answer.redirect_chain == [(PAGE, 302)] and messages(answer) == ["1 may be uploaded again."]
    assert not Upload.objects.exists()


def test_a_row_has_nothing_to_save(operator, make):
    for row in (make(), IndexRequestFactory()):
        page = page_of(row)
        text = operator.get(page).text
        assert not any(f'name="{button}"' in text for button in ("_save", "_continue", "_addanother"))
        assert operator.post(page, {"digest": "0" * 64}).status_code == 403
    assert not LogEntry.objects.exists()


def test_a_long_selection_is_refused(operator, make):
    uploads = [make() for _ in range(51)]
    assert "choose at most 50" in act(operator, "block", *uploads)
    assert not Upload.objects.exclude(blocked_at=None).exists()
