"""Rows of the documents that launches name by a URI, written with the launches for the fetching rounds."""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import format_copy_rows, staging_table
from tokens.models import DocumentStatus

# URIs are untrusted; a longer text is no usable address.
MAX_URI_LENGTH = 10_000

# Fetched content stays until another document replaces it.
_UPSERT = """
INSERT INTO tokens_tokendocument (token_id, uri, status, due_at, content)
SELECT token_id, uri, %(pending)s, %(now)s, '{}' FROM staged_document ORDER BY token_id
ON CONFLICT (token_id) DO UPDATE
SET uri = EXCLUDED.uri, status = EXCLUDED.status, due_at = EXCLUDED.due_at, leased_until = NULL,
    attempts = 0, unfinished = 0, last_error = ''
WHERE tokens_tokendocument.uri <> EXCLUDED.uri
"""
_STAGED = {"token_id": "bigint", "uri": "text"}


def request_documents(uris: Mapping[int, str]) -> None:
    """Store documents to be fetched, by the ids of their tokens. Documents with an unchanged URI stay.

    Call it in the database transaction that has written, and so locked, the tokens.
    """
    rows = [{"token_id": token_id, "uri": cleaned} for token_id, uri in uris.items() if (cleaned := _clean(uri))]
    if not rows:
        return
    values: dict[str, Any] = {"pending": DocumentStatus.PENDING, "now": timezone.now()}
    with connection.cursor() as cursor, staging_table(cursor, "staged_document", _STAGED, format_copy_rows(rows)):
        cursor.execute(_UPSERT, values)


def _clean(uri: str) -> str:
    """Return the URI without characters that PostgreSQL can't store."""
    return uri.replace("\0", "").strip()[:MAX_URI_LENGTH]
