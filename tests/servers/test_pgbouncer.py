"""The service through PgBouncer in transaction mode, with DATABASE_DIRECT_URL."""

import os

import pytest
from django.conf import settings as configured
from django.db import connection

from development.servers.programs import postgresql_programs
from tests.chaos.harness import manage
from tests.processes.empty_database import empty_database
from tests.processes.own_environment import database_url, environment_on
from tests.servers.pgbouncer import pgbouncer
from tests.servers.whole_service import findings, whole_service

pytestmark = pytest.mark.slow


def test_all_processes_work_through_it(tmp_path):
    with empty_database() as name, pgbouncer() as prefix:
        servers = {
            "DATABASE_URL": f"{prefix}{name}",
            "DATABASE_DIRECT_URL": database_url(name),
            "REDIS_URL": environment_on(name)["REDIS_URL"],
        }
        migrating = servers | {"PATH": os.environ["PATH"], "SECRET_KEY": configured.SECRET_KEY}
        manage(migrating, "migrate", "--verbosity", "0")
        with whole_service(tmp_path, servers) as running:
            status = running.use_everything()
            assert status["status"] == "indexed"
            # A busy machine misses the short deadlines of the workers' replies.
            assert findings(running.environment, "error").keys() <= {"workers"}
            assert findings(running.environment, "ok")["pooler"] == "Sessions of DATABASE_DIRECT_URL are not shared."
            manage(running.environment, "partitions", "--maintain")
            manage(running.environment, "backup", str(tmp_path / "backup.zip"))


@pytest.mark.django_db(transaction=True)
def test_a_restore_through_it_does_not_count_its_own_sessions(tmp_path, service_environment):
    programs = {"POSTGRESQL_PROGRAMS": str(postgresql_programs())}
    manage(service_environment | programs, "backup", str(tmp_path / "backup.zip"))
    with empty_database() as name, pgbouncer() as prefix:
        urls = {"DATABASE_URL": f"{prefix}{name}", "DATABASE_DIRECT_URL": database_url(name)}
        manage(service_environment | programs | urls, "restore", str(tmp_path / "backup.zip"))


@pytest.mark.django_db(transaction=True)
def test_doctor_finds_a_pooler_where_sessions_are_needed(service_environment):
    name = connection.settings_dict["NAME"]
    with pgbouncer() as prefix, pgbouncer(mode="session") as by_session:
        pooled = service_environment | {"DATABASE_URL": f"{prefix}{name}"}
        assert findings(pooled, "error")["pooler"] == "DATABASE_URL leads to a pooler."
        elsewhere = {"DATABASE_DIRECT_URL": database_url("postgres"), "READ_REPLICA_URL": pooled["DATABASE_URL"]}
        assert findings(pooled | elsewhere, "error")["pooler"] == (
            "DATABASE_DIRECT_URL leads to another database than DATABASE_URL; READ_REPLICA_URL leads to a pooler."
        )
        pooled |= {"DATABASE_DIRECT_URL": f"{by_session}{name}"}
        assert findings(pooled, "error")["pooler"] == "DATABASE_DIRECT_URL leads to a pooler."
