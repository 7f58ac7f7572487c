"""Uploads as objects in an S3-like service, by signed requests (AWS Signature Version 4) with the bucket in the path.

https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html, API_DeleteObject.html
"""

from typing import Any

from django.conf import settings
from requests_aws4auth import AWS4Auth

from config.http.errors import PermanentError
from config.http.json_client import send_content

# Names are digests: an object never changes.
_CACHING = "public, max-age=31536000, immutable"
# The most bytes read from an error body.
_MAX_ANSWER = 64 * 1024
_PROBE = "probe"


def put_object(name: str, content: bytes, *, media_type: str) -> str:
    """Put an object and return its public URL. Raises RetryableError, PermanentError."""
    _send("PUT", name, {"data": content, "headers": {"Content-Type": media_type, "Cache-Control": _CACHING}})
    return f"{settings.UPLOAD_PUBLIC_URL}/{name}"


def delete_object(name: str) -> None:
    """Delete an object, if there is one. Raises RetryableError, PermanentError."""
    # Some services respond with 404 for an object that is not there. In another bucket the file would stay.
    if b"NoSuchBucket" in _send("DELETE", name, {}, accepted=(200, 204, 404)):
        raise PermanentError("no such bucket")


def probe_bucket() -> None:
    """Put an object and delete it. Raises RetryableError, PermanentError."""
    put_object(_PROBE, b"probe", media_type="text/plain")
    delete_object(_PROBE)


def _send(method: str, name: str, content: dict[str, Any], *, accepted: tuple[int, ...] = (200,)) -> bytes:
    signature = AWS4Auth(settings.UPLOAD_S3_KEY_ID, settings.UPLOAD_S3_SECRET.reveal(), settings.UPLOAD_S3_REGION, "s3")
    return send_content(
        method,
        f"{settings.UPLOAD_S3_URL}/{settings.UPLOAD_S3_BUCKET}/{name}",
        content | {"auth": signature},
        timeout=settings.UPLOAD_TIMEOUT_SECONDS,
        accepted=accepted,
        max_bytes=_MAX_ANSWER,
    )
