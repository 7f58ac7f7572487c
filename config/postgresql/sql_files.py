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
_TRIGGER = re.compile(r"^CREATE OR REPLACE (TRIGGER (\w+) .*? ON (\w+)\s.*?;\n)", re.MULTILINE | re.DOTALL)
_MISSING_TRIGGER = r"""DO $missing$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = '\2' AND tgrelid = '\3'::regclass) THEN
        CREATE \1    END IF;
END
$missing$;
"""


def sql_digest(path: str) -> str:
    """Return the digest that identifies the statements of a file; `path` starts at the root of the tree."""
    return hashlib.sha256(read_sql(path).encode()).hexdigest()[:12]


def read_sql(path: str) -> str:
    """Return a file without its comment lines, which change without a migration; `path` as for `sql_digest`."""
    return _COMMENT.sub("", (_ROOT / path).read_text(encoding="utf-8"))


def load_sql(
    path: str, digest: str, *, triggers_on: str = r"\w+", with_triggers: bool = False, always: bool = False
) -> RunSQL:
    """Return the operation that replaces the functions of a file, and creates its missing triggers.

    It does nothing if the file has another digest. The file has changed then, and may use columns that later migrations
    add: PostgreSQL checks a PL/pgSQL function when it runs, and an SQL function when it is created. The later migration
    with the new digest loads the file. Until then the functions of an installation stay, and work: a column is dropped
    one version after its last use. Move a data migration that needs the changed functions behind the later load.

    `always` creates the functions of any digest, for indexes. Such functions read no table.

    Only tables that lack a trigger are locked, until the transaction ends; `triggers_on` names one of several tables.
    `with_triggers` replaces all triggers, and locks their tables.

    A reversal keeps the functions. If the former functions do not work with the new ones' columns, add the former text
    as the reverse of another operation. Delete a file only together with its loads.
    """
    if sql_digest(path) != digest and not always:
        return RunSQL(RunSQL.noop, RunSQL.noop)
    statements = read_sql(path)
    if with_triggers:
        return RunSQL(statements, RunSQL.noop)

    def replacement(trigger: re.Match[str]) -> str:
        return trigger.expand(_MISSING_TRIGGER) if re.fullmatch(triggers_on, trigger[3]) else ""

    return RunSQL(_TRIGGER.sub(replacement, statements), RunSQL.noop)
