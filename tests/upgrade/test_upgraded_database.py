"""Database of version 0.2.0 after `migrate`: schema and permissions of a new database, and converted rows."""

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from development.servers.programs import postgresql_programs
from tests.processes.own_environment import database_url, environment_on
from tests.processes.template_database import own_database, template
from tests.upgrade.former_version import former_version, this_version

pytestmark = pytest.mark.slow

GRANTED = """
SELECT role.name, type.app_label, type.model, permission.codename, permission.name FROM auth_group AS role
JOIN auth_group_permissions AS granted ON granted.group_id = role.id
JOIN auth_permission AS permission ON permission.id = granted.permission_id
JOIN django_content_type AS type ON type.id = permission.content_type_id ORDER BY 1, 2, 3, 4
"""
# As 0.2.0 stores them: names in lower case, no decimals of the quote token, and texts instead of codes.
STORED = """
UPDATE tokens_token SET name = 'Straße', symbol = 'ΣΟΦΟΣ', starting_market_cap = NULL,
    pool_address = '0x' || repeat('a', 40) WHERE id = (SELECT min(id) FROM tokens_token);
INSERT INTO tokens_launchfacts (token_id, facts) SELECT min(id), '{}' FROM tokens_token
    ON CONFLICT (token_id) DO UPDATE SET facts = '{}';
INSERT INTO tokens_indexrequest (chain_id, tx_hash, status, last_error, block_hash, created_at, updated_at)
    VALUES (8453, 'a', 'pending', 'chain 8453 is out of reach', '', now(), now());
INSERT INTO events_outboxevent (type, version, subject, owner_id, data) VALUES ('token.indexed', 1, 'a', 0, '{}');
"""


@pytest.fixture(scope="module")
def upgraded() -> Iterator[str]:
    """Return the name of an upgraded database."""
    former = former_version()
    with own_database(source="template1") as name:
        environment = environment_on(name) | {"SECRET_KEY": "s" * 50, "CHAINS_FILE": ""}
        environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
        former.manage(environment, "migrate", "--verbosity", "0")
        former.manage(environment, "seed_tokens", "--count", "3")
        with psycopg.connect(database_url(name)) as database:
            database.execute(STORED)
        this_version().manage(environment, "migrate", "--verbosity", "0")
        yield name


def rows(database: str, statement: str) -> list[Any]:
    with psycopg.connect(database_url(database)) as connection:
        return connection.execute(statement).fetchall()


def schema_of(database: str) -> list[str]:
    """Return the definitions of all objects but the weekly partitions, which writers create."""
    command = [postgresql_programs() / "pg_dump", "--schema-only", "--schema=public", "--exclude-table=*_20??????"]
    run = subprocess.run([*command, database_url(database)], capture_output=True, text=True, check=True)
    return sorted(re.sub(r"^\\.*", "", run.stdout, flags=re.MULTILINE).split("\n-- Name: "))


def test_it_has_the_schema_of_a_new_database(upgraded):
    assert schema_of(upgraded) == schema_of(template())


def test_its_roles_have_the_permissions_of_a_new_database(upgraded):
    assert rows(upgraded, GRANTED) == rows(template(), GRANTED)


def test_its_rows_have_the_values_of_this_version(upgraded):
    assert rows(upgraded, "SELECT text FROM tokens_searchentry ORDER BY token_id LIMIT 1") == [("strasse\nσοφοσ",)]
    assert rows(upgraded, "SELECT token_id FROM tokens_poolbacklog") == rows(
        upgraded, "SELECT min(id) FROM tokens_token"
    )
    assert rows(upgraded, "SELECT tx_hash, node_outage FROM tokens_indexrequest WHERE tx_hash = 'a'") == [("a", True)]
    audiences = rows(upgraded, "SELECT DISTINCT audience FROM events_outboxevent WHERE subject = 'a'")
    assert audiences == [("operators",)]
