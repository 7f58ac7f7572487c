"""Token document rows, written with the launches for the fetching rounds."""

from collections.abc import Mapping

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import array_literal
from tokens.models import DocumentStatus

# URIs are untrusted; a longer text is no usable address.
MAX_URI_LENGTH = 10_000

# Fetched content stays until another document replaces it.
_UPSERT = """
INSERT INTO tokens_tokendocument (token_id, uri, status, due_at, content)
SELECT token_id, uri, %(pending)s, %(now)s, '{}'
FROM unnest(%(token_ids)s::bigint[], %(uris)s::text[]) AS requested (token_id, uri) ORDER BY token_id
ON CONFLICT (token_id) DO UPDATE
SET uri = EXCLUDED.uri, status = EXCLUDED.status, due_at = EXCLUDED.due_at, leased_until = NULL,
    attempts = 0, unfinished = 0, last_error = ''
WHERE tokens_tokendocument.uri <> EXCLUDED.uri
"""


def request_documents(uris: Mapping[int, str]) -> None:
    """Store documents to be fetched, by token id. Documents with an unchanged URI stay.

    Call it in the database transaction that has written, and so locked, the tokens.
    """
    requested = {token_id: cleaned for token_id, uri in uris.items() if (cleaned := _clean(uri))}
    if not requested:
        return
    rows = {"token_ids": array_literal(requested), "uris": array_literal(requested.values())}
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT, rows | {"pending": DocumentStatus.PENDING, "now": timezone.now()})


def _clean(uri: str) -> str:
    """Return the URI without characters that PostgreSQL can't store."""
    return uri.replace("\0", "").strip()[:MAX_URI_LENGTH]
