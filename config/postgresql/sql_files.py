"""SQL files with the current functions and triggers of the database, and their loading by migrations.

A file is beside the module that describes, reads or fills its rows, and can be executed again at any time. To change a
function, edit its file, and load the file in a new migration. `tests/config/postgresql/test_sql_files.py` compares all
files with a migrated database, and prints the digest that the migration needs.
"""

import hashlib
import re
from pathlib import Path

from django.db.migrations import RunSQL

_ROOT = Path(__file__).resolve().parents[2]
_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)
_TRIGGER = re.compile(r"^CREATE OR REPLACE TRIGGER\b.*?;\n", re.MULTILINE | re.DOTALL)


def sql_digest(path: str) -> str:
    """Return the digest that identifies the statements of a file; `path` starts at the root of the tree."""
    return hashlib.sha256(read_sql(path).encode()).hexdigest()[:12]


def read_sql(path: str) -> str:
    """Return a file without its comment lines, which change without a migration; `path` as for `sql_digest`."""
    return _COMMENT.sub("", (_ROOT / path).read_text(encoding="utf-8"))


def load_sql(path: str, digest: str, *, with_triggers: bool = False) -> RunSQL:
    """Return the operation that replaces the functions of a file. It does nothing if the file has another digest.

    The file has changed then, and may use columns that later migrations add: PostgreSQL checks a PL/pgSQL function when
    it runs, and an SQL function when it is created. The later migration with the new digest loads the file. Until then
    the functions of earlier migrations stay, and work: a column is dropped one version after its last use. The
    migration that adds a function or a trigger therefore has its text, and a load only replaces functions: a new
    database would lack them until the file's last load.

    No table is locked. `with_triggers` also replaces the triggers, and locks their table until the transaction ends.

    A reversal keeps the functions. If the former functions do not work with the new ones' columns, add the former text
    as the reverse of another operation. Delete a file only together with its loads.
    """
    if sql_digest(path) != digest:
        return RunSQL(RunSQL.noop, RunSQL.noop)
    statements = read_sql(path)
    return RunSQL(statements if with_triggers else _TRIGGER.sub("", statements), RunSQL.noop)
