"""Upload storage check for `manage.py doctor`: writable, and with all its settings."""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings

from config.doctor.findings import Finding, Level
from config.http.errors import PermanentError, RetryableError
from tokens.models import StorageKind
from tokens.uploads.upload_storage import UploadsOffError, chosen_storage, probe_storage

_GUIDE = "repairing.md#uploads"
_ACTIONS = {
    StorageKind.DIRECTORY: "Let the user of the web processes write to UPLOAD_DIR, and free space on its disk.",
    StorageKind.S3: "Compare UPLOAD_S3_* with the service; its key needs to put and delete objects of the bucket.",
    StorageKind.PINNING: "Compare UPLOAD_PINNING_URL and UPLOAD_PINNING_TOKEN with the node or the service.",
}


def storage(now: datetime) -> Iterator[Finding]:
    """Yield whether the upload storage is writable; the written file is removed again."""
    try:
        kind = chosen_storage()
    except UploadsOffError:
        yield Finding(level=Level.OK, summary="Uploads are off.")
        return
    try:
        probe_storage(kind)
    except (OSError, RetryableError, PermanentError) as error:
        problem = f"The storage of uploads ({kind.value}) can't be written: {error}."
        yield Finding(level=Level.ERROR, summary=problem, action=_ACTIONS[kind], guide=_GUIDE)
        return
    yield Finding(level=Level.OK, summary=f"The storage of uploads ({kind.value}) is writable.")
    if kind == StorageKind.DIRECTORY and not settings.SITE_URL.startswith("https://"):
        yield Finding(
            level=Level.WARNING,
            summary="URLs of uploads begin with http://: browsers block them on pages of https://.",
            action="Let a proxy terminate TLS, and set SITE_URL to its https:// address.",
            guide=_GUIDE,
        )
