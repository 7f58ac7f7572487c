"""Fixtures of uploads: a directory, and calls of the endpoints with a key."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from config.environment.secret import Secret
from tests.nodes.upload_stores import BUCKET, KEY_ID, REGION, SECRET, TOKEN, Store, run_pinning, run_s3
from tokens.uploads.upload_storage import BREAKERS

PICTURES, METADATA = "/api/uploads/pictures", "/api/uploads/metadata"


@pytest.fixture(autouse=True)
def closed_circuits() -> Iterator[None]:
    for breaker in BREAKERS.values():
        breaker.record_success()
    yield
    for breaker in BREAKERS.values():
        breaker.record_success()


@pytest.fixture
def directory(settings: Any, tmp_path: Path) -> Path:
    """Store uploads in a directory, which the first one makes, and return its path."""
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def s3(settings: Any) -> Iterator[Store]:
    """Store uploads in an S3-like storage."""
    settings.UPLOAD_STORAGE, settings.UPLOAD_PUBLIC_URL = "s3", "https://cdn.example/launches"
    settings.UPLOAD_S3_BUCKET, settings.UPLOAD_S3_REGION = BUCKET, REGION
    settings.UPLOAD_S3_KEY_ID, settings.UPLOAD_S3_SECRET = KEY_ID, Secret(SECRET)
    with run_s3() as store:
        settings.UPLOAD_S3_URL = store.url
        yield store


@pytest.fixture
def pinning(settings: Any) -> Iterator[Store]:
    """Store uploads on IPFS."""
    settings.UPLOAD_STORAGE, settings.UPLOAD_PINNING_TOKEN = "pinning", Secret(TOKEN)
    with run_pinning() as store:
        settings.UPLOAD_PINNING_URL = store.url
        yield store


@pytest.fixture
def upload(client: Client, deploy_key: dict[str, str]) -> Callable[..., Any]:
    """Return a function that sends a picture and returns the response."""

    def send(content: bytes, form: str = "image/png", headers: dict[str, str] = deploy_key) -> Any:
        return client.generic("POST", PICTURES, content, content_type=form, headers=headers)

    return send


@pytest.fixture
def describe(client: Client, deploy_key: dict[str, str]) -> Callable[..., Any]:
    """Return a function that sends a metadata document and returns the response."""

    def send(body: Any, headers: dict[str, str] = deploy_key) -> Any:
        return client.post(METADATA, body, content_type="application/json", headers=headers)

    return send
