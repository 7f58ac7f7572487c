"""Environment variables for uploads: storage and limits for partners' pictures and metadata."""

from pathlib import Path

from attrs import frozen

from config.environment.kinds import api_key, base_url, choice, directory, matching, whole_number
from config.environment.secret import Secret
from config.environment.variables import variable

STORAGES = ("off", "directory", "s3", "pinning")
# Storage -> settings that it needs, also to serve earlier uploads.
CALL_SETTINGS = {
    "s3": ("UPLOAD_S3_URL", "UPLOAD_S3_BUCKET", "UPLOAD_S3_KEY_ID", "UPLOAD_S3_SECRET"),
    "pinning": ("UPLOAD_PINNING_URL",),
}


@frozen(slots=False, repr=False)
class UploadVariables:
    """Partner uploads, off by default."""

    UPLOAD_STORAGE: str = variable(choice(*STORAGES), "off")
    """Storage for new uploads: `directory` (served at `/uploads/`), `s3` (S3-like) or `pinning` (IPFS, by Kubo's RPC);
    `off` refuses them with 404."""
    UPLOAD_DIR: Path | None = variable(directory, empty=None)
    """Absolute path of the upload directory; all web processes share it. [Back it
    up](backups.md#what-is-not-in-a-backup): it is data.

    Default: `uploads` in `LAUNCHBOARD_LOCAL`
    Example: /var/lib/launchboard/uploads
    """
    UPLOAD_PUBLIC_URL: str = variable(base_url)
    """Public URL to which file names are appended, such as a CDN's; with `s3` the bucket's URL is required.

    Default: `SITE_URL`/uploads
    """
    # A client address may use a quarter of WEB_BODY_MEMORY_MB, which is at least 33 MiB.
    UPLOAD_DAILY_BYTES: int = variable(whole_number(0, 2**50), "104857600")
    """Bytes that a partner key may add to the storage per day in UTC; 0 is no limit."""
    UPLOAD_S3_URL: str = variable(base_url)
    """S3-like service without the bucket, such as `https://s3.eu-central-1.amazonaws.com`."""
    UPLOAD_S3_BUCKET: str = variable(
        matching(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "a bucket of 3 to 63 small letters, digits, dots and hyphens")
    )
    """Bucket for uploads; it becomes part of the path."""
    UPLOAD_S3_REGION: str = variable(matching("[a-z0-9-]{1,60}", "small letters, digits and -"), "us-east-1")
    """Region in request signatures; many other services take any."""
    UPLOAD_S3_KEY_ID: str = variable(api_key)
    """Access key id with the permission to put and delete the bucket's objects."""
    UPLOAD_S3_SECRET: Secret = variable(Secret, empty=Secret(""), accepts_file=True)
    """Secret for the access key."""
    UPLOAD_PINNING_URL: str = variable(base_url)
    """URL of Kubo's RPC or a compatible service, without `/api/v0`, such as `http://127.0.0.1:5001`."""
    UPLOAD_PINNING_TOKEN: Secret = variable(Secret, empty=Secret(""), accepts_file=True)
    """Token for the pinning service, sent as `Authorization: Bearer`; empty for none."""
