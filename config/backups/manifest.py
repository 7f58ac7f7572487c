"""Backup manifest: the service's version and migrations, table digests, followed blocks by chain."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from config.backups.dump_programs import BackupError
from config.backups.table_digests import TableDigest

# File format; a later one is refused.
FORMAT = 1
_SECRETS = ("SECRET_KEY", "PARTNER_KEY_PEPPER")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup contains, as of its snapshot."""

    # The service's version.
    service: str
    at: datetime
    # Major versions: server and `pg_dump`.
    server: int
    pg_dump: int
    # (app, name).
    migrations: frozenset[tuple[str, str]]
    tables: Mapping[str, TableDigest]
    # BACKUP_FACTS by name, such as each chain's followed block; none for an older schema.
    facts: Mapping[str, Any]
    # Digests of secrets that the rows depend on, by setting.
    secrets: Mapping[str, str]

    def changed_secrets(self) -> list[str]:
        """Return the settings with another value than in the backup."""
        now = secret_digests()
        return [name for name, digest in self.secrets.items() if now.get(name) != digest]

    def to_json(self) -> bytes:
        """Return the file's content."""
        body = asdict(self) | {
            "format": FORMAT,
            "at": self.at.isoformat(),
            "migrations": sorted(list(name) for name in self.migrations),
        }
        return json.dumps(body, indent=1).encode()


def parse_manifest(text: bytes) -> Manifest:
    """Return the manifest in a file's content. Raises BackupError."""
    try:
        body = json.loads(text)
        if body["format"] != FORMAT:
            raise BackupError(f"the backup has format {body['format']}, and this version reads format {FORMAT}")
        return Manifest(
            service=str(body["service"]),
            at=datetime.fromisoformat(body["at"]),
            server=int(body["server"]),
            pg_dump=int(body["pg_dump"]),
            migrations=frozenset((app, name) for app, name in body["migrations"]),
            tables={name: TableDigest(**digest) for name, digest in body["tables"].items()},
            facts=dict(body["facts"]),
            secrets=dict(body["secrets"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BackupError("the file's manifest is not that of a backup") from error


def secret_digests() -> dict[str, str]:
    """Return a digest of each secret that rows depend on. The secrets are too long to be guessed from it."""
    return {
        name: hmac.digest(getattr(settings, name).encode(), b"launchboard backup", "sha256").hex()[:16]
        for name in _SECRETS
    }
