"""Plans for the statements that a request sends, and the rows that they visit."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

# Settings that are sent with a statement, and the statement.
_SENT = re.compile(r"\s*((?:SET LOCAL [^;]*;\s*)*)((?:SELECT|WITH)\b.*?)(?:; SET LOCAL [^;]*)?", re.DOTALL)
# Plan nodes that read tables and indexes. A bitmap's heap scan reads what index scans have found.
_SCANS = ("Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Index Scan")


def plans(run: Callable[[], Any], *tables: str) -> list[str]:
    """Return the query plans on tables (by default the token table), under the settings sent along."""
    with CaptureQueriesContext(connection) as queries:
        run()
    found = []
    for query in queries:
        sent = _SENT.fullmatch(query["sql"])
        if sent and any(f'FROM "{table}"' in query["sql"] for table in tables or ("tokens_token",)):
            found.append("\n".join(_explain("EXPLAIN", *sent.groups())))
    assert found
    return found


def visited_rows(run: Callable[[], Any]) -> int:
    """Return the rows that all reads' scans visit, without time limits; a look-up without a row is one, too."""
    with CaptureQueriesContext(connection) as queries:
        run()
    sent = [found for query in queries if (found := _SENT.fullmatch(query["sql"]))]
    assert sent
    explain = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)"
    return sum(_visited(_explain(explain, *found.groups())[0][0]["Plan"]) for found in sent)


def _visited(plan: Mapping[str, Any]) -> int:
    rows = 0
    if plan["Node Type"] in _SCANS:
        removed = sum(number for name, number in plan.items() if name.startswith("Rows Removed by"))
        rows = int(plan["Actual Loops"] * max(1, plan["Actual Rows"] + removed))
    return rows + sum(map(_visited, plan.get("Plans", ())))


def _explain(explain: str, settings: str, statement: str) -> list[Any]:
    with transaction.atomic(), connection.cursor() as cursor:
        # In a test's transaction the previous statement's settings are still there.
        cursor.execute("RESET ALL")
        if settings:
            cursor.execute(settings)
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(f"{explain} {statement}")
        lines = [line for (line,) in cursor.fetchall()]
        transaction.set_rollback(True)
    return lines
