"""Triggers that maintain sums, for migrations 0043 and 0044 of tokens: each runs once for the rows of a statement.

The current functions are in `collection_sums.sql` and `claim_sums.sql` of tokens/fees.
"""

from django.db.migrations import RunSQL

# The rows that a statement wrote, with 1 for added rows and -1 for dropped ones. A row that is rewritten unchanged is
# neither.
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
    """Return triggers that run PL/pgSQL statements. Their `{source}` is a query for the written rows, with `sign`."""
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

    The query has these blocks' rows, each with `sign`.
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
