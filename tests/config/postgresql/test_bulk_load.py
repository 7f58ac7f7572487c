"""Insertion of rows by COPY."""

from datetime import UTC, datetime
from decimal import Decimal

import psycopg
import pytest
from django.db import OperationalError, connection

from config.postgresql.bulk_load import array_literal, copy_into, format_copy_rows
from config.postgresql.timeouts import statement_timeout
from leaderboard.models import SocialAccount

TABLE = SocialAccount._meta.db_table


@pytest.mark.django_db(transaction=True)
def test_a_copy_that_takes_too_long_fails_as_any_statement_does(service_environment):
    at = "2026-02-07T12:00:00Z"
    rows = format_copy_rows([{"fid": 1, "registered_at": at, "told_at": at}])
    with psycopg.connect(service_environment["DATABASE_URL"]) as other:
        other.execute(f"LOCK TABLE {TABLE} IN EXCLUSIVE MODE")
        with pytest.raises(OperationalError), statement_timeout(milliseconds=50), connection.cursor() as cursor:
            copy_into(cursor, TABLE, rows)
    assert not SocialAccount.objects.exists()


@pytest.mark.django_db
def test_an_array_literal_holds_any_value():
    def read(values, element):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT %s::{element}[]", [array_literal(values)])
            return cursor.fetchone()[0]

    texts = ["", "NULL", 'a "quote"', "a\\b", "{c, d}", None]
    at = datetime(2026, 2, 7, 12, 0, 0, 1, tzinfo=UTC)
    assert read(texts, "text") == texts
    assert read([1, None, 2**62], "bigint") == [1, None, 2**62]
    assert read([Decimal("1.20"), Decimal("1E-30")], "numeric") == [Decimal("1.20"), Decimal("1E-30")]
    assert read([0.1, 1e300], "float8") == [0.1, 1e300]
    assert read([at], "timestamptz") == [at]
    assert read([], "bigint") == []
