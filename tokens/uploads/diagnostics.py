"""Check of the storage of uploads for `manage.py doctor`: writable, and with all of its settings."""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings

from config.doctor.findings import Finding, Level
from config.http.errors import PermanentError, RetryableError
from tokens.models import StorageKind
from tokens.uploads.upload_storage import UploadsOffError, chosen_storage, probe_storage

_GUIDE = "uploads"
_ACTIONS = {
    StorageKind.DIRECTORY: "Let the user of the web processes write to UPLOAD_DIR, and free space on its disk.",
    StorageKind.S3: "Compare UPLOAD_S3_* with the service; its key needs to put and delete objects of the bucket.",
    StorageKind.PINNING: "Compare UPLOAD_PINNING_URL and UPLOAD_PINNING_TOKEN with the node or the service.",
}


def storage(now: datetime) -> Iterator[Finding]:
    """Yield whether a file can be written to the storage of uploads; what it writes is removed again."""
    try:
        chosen = chosen_storage()
    except UploadsOffError:
        yield Finding(level=Level.OK, found="Uploads are off.")
        return
    try:
        probe_storage(chosen)
    except (OSError, RetryableError, PermanentError) as error:
        found = f"The storage of uploads ({chosen.value}) can't be written: {error}."
        yield Finding(level=Level.ERROR, found=found, action=_ACTIONS[chosen], guide=_GUIDE)
        return
    yield Finding(level=Level.OK, found=f"The storage of uploads ({chosen.value}) is writable.")
    if chosen == StorageKind.DIRECTORY and not settings.SITE_URL.startswith("https://"):
        yield Finding(
            level=Level.WARNING,
            found="URLs of uploads begin with http://: browsers block them on pages of https://.",
            action="Let a proxy terminate TLS, and set SITE_URL to its https:// address.",
            guide=_GUIDE,
        )
