"""Insertion of rows by COPY."""

import psycopg
import pytest
from django.db import OperationalError, connection

from config.postgresql.bulk_load import copy_into, format_copy_rows
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
