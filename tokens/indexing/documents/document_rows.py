"""Rows of the documents that launches name by a URI, written with the launches: who fetches them finds what is due."""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import copy_text, staged
from tokens.chains.types import Launch
from tokens.models import TokenDocument

# A launch may say anything; what is longer is no address of anything.
LONGEST_URI = 10_000

# What was fetched stays until another document is there.
_UPSERT = """
INSERT INTO tokens_tokendocument (token_id, uri, status, attempts, due_at, last_error, content)
SELECT token.id, staged_document.uri, %(pending)s, 0, %(now)s, '', '{}'
FROM staged_document JOIN tokens_token AS token USING (contract_address)
WHERE token.chain_id = %(chain_id)s
ORDER BY token.id
ON CONFLICT (token_id) DO UPDATE
SET uri = EXCLUDED.uri, status = EXCLUDED.status, attempts = 0, due_at = EXCLUDED.due_at, last_error = ''
WHERE tokens_tokendocument.uri <> EXCLUDED.uri
"""
_STAGED = {"contract_address": "varchar", "uri": "text"}


def want_documents(launches: Mapping[str, Launch], *, chain_id: int) -> None:
    """Have the documents of launches fetched, which are by contract address; what is known under the same URI stays.

    To be called in the database transaction that has written, and so locked, the tokens.
    """
    uris = {address: _clean(launch.uri) for address, launch in launches.items() if launch.uri}
    rows = [{"contract_address": address, "uri": uri} for address, uri in uris.items() if uri]
    if not rows:
        return
    values: dict[str, Any] = {"pending": TokenDocument.Status.PENDING, "now": timezone.now(), "chain_id": chain_id}
    with connection.cursor() as cursor, staged(cursor, "staged_document", _STAGED, copy_text(rows)):
        cursor.execute(_UPSERT, values)


def _clean(uri: str) -> str:
    """Without what PostgreSQL can't hold."""
    return uri.replace("\0", "").strip()[:LONGEST_URI]
