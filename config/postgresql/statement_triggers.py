"""Triggers by which migrations maintain sums: each runs once for all rows that a statement writes."""

from django.db.migrations import RunSQL

# The rows of a statement, with 1 for those that are added and -1 for those that are dropped. A row that is written
# once more as it was is neither.
_SOURCES = {
    "insert": "SELECT 1 AS sign, * FROM added",
    "delete": "SELECT -1 AS sign, * FROM dropped",
    "update": """
        SELECT 1 AS sign, changed.* FROM (TABLE added EXCEPT ALL TABLE dropped) AS changed
        UNION ALL SELECT -1, changed.* FROM (TABLE dropped EXCEPT ALL TABLE added) AS changed
    """,
}
_TABLES = {
    "insert": "NEW TABLE AS added",
    "delete": "OLD TABLE AS dropped",
    "update": "NEW TABLE AS added OLD TABLE AS dropped",
}


def make_triggers(table: str, name: str, body: str) -> list[RunSQL]:
    """Return triggers that run PL/pgSQL statements, in which `{source}` is a query of the written rows with `sign`."""
    return [
        RunSQL(
            f"""
            CREATE FUNCTION {name}_on_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN {body.format(source=source)} RETURN NULL;
            END
            $$;
            CREATE TRIGGER {name}_on_{event} AFTER {event.upper()} ON {table} REFERENCING {_TABLES[event]}
                FOR EACH STATEMENT EXECUTE FUNCTION {name}_on_{event}();
            """,
            f"DROP TRIGGER {name}_on_{event} ON {table}; DROP FUNCTION {name}_on_{event}();",
        )
        for event, source in _SOURCES.items()
    ]


def make_fill(name: str, body: str, source: str) -> RunSQL:
    """Return the function `name(of_chain, after_block, up_to_block)`, which runs a trigger's statements for a query.

    The query has the rows of these blocks, each with `sign`.
    """
    return RunSQL(
        f"""
        CREATE FUNCTION {name}(of_chain bigint, after_block bigint, up_to_block bigint)
            RETURNS void LANGUAGE plpgsql AS $$
        BEGIN {body.format(source=source)}
        END
        $$;
        """,
        f"DROP FUNCTION {name}(bigint, bigint, bigint);",
    )
