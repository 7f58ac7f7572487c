"""Fixtures that several test modules use."""

import base64
import gc
import json
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection, connections, transaction
from django.test import Client, TransactionTestCase
from django.utils import timezone
from pytest_django.fixtures import Settings
from redis import Redis

from accounts.keys import credentials
from accounts.models import Scope
from accounts.profiles import social_refresh
from config.celery import app as celery_app
from config.redis import connection as redis_connection
from config.settings.celery_schedule import QUEUES
from config.workers.periodic_tasks import record_schedule
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import DevelopmentContracts, deploy_contracts
from development.servers.processes import free_port
from development.standins.market_server import MarketStandIn
from development.standins.social_server import SocialStandIn
from tests.nodes.devchain_launches import Launchpad
from tests.processes.own_environment import environment_on
from tests.processes.own_valkey import OwnServer
from tests.processes.template_database import own_database, restore_template_rows, template
from tokens.installation import installed_chains, installed_signers
from tokens.installation.installed_registry import registry

# Full collections, which visit all modules and collected tests, would take 10 % of the time.
gc.set_threshold(700, 10, 1_000)

# Not Django's flush, which takes a hundred times as long and drops rows that migrations inserted.
TransactionTestCase._fixture_teardown = lambda case: restore_template_rows()

# A slow machine fails no test. A test's fixtures are set up once for all its examples.
_UNCHECKED = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture]
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=_UNCHECKED)
hypothesis.settings.load_profile("untimed")

# As config.urls does in the service: a test for an admin page needs no earlier request.
admin.autodiscover()

# Each test client creates the middleware anew, which would read all directories with static files.
settings.WHITENOISE_AUTOREFRESH = True
# The usual hasher takes 0.1 s per password, on purpose.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# pytest-django's settings list no names.
_RATE_LIMITS = [name for name in dir(settings) if name.startswith("RATE_LIMIT_")]

pytest_plugins = [
    "tests.rows.deploying",
    "tests.nodes.recorded_node",
    "tests.nodes.launchpad_recordings",
    "tests.nodes.solana.recorded",
    "tests.nodes.solana.changed",
    "tests.rows.user_tokens",
    "tests.rows.recorded_launchpads",
]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Have pytest-django copy each process's database from the migrated template."""
    connection.settings_dict["TEST"]["TEMPLATE"] = template()


@pytest.fixture
def own_tables(transactional_db: None) -> Iterator[None]:
    """Connect to this test's own database, whose tables it may change."""
    shared = connection.settings_dict["NAME"]
    connection.close()
    with own_database() as connection.settings_dict["NAME"]:
        yield
        connection.close()
    connection.settings_dict["NAME"] = shared


@pytest.fixture(scope="session")
def anvil() -> Iterator[str]:
    """Return a development node's URL, one per test process. A test that moves the node's clock starts its own."""
    with run_anvil() as url:
        yield url


@pytest.fixture(scope="session")
def chains_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the development chain's registry file; its contracts have the same addresses on every node."""
    return tmp_path_factory.mktemp("chain") / "chains.toml"


@pytest.fixture(scope="session")
def deployment(anvil: str, chains_file: Path) -> DevelopmentContracts:
    """Deploy the development contracts on that node. Launch with your own salt: other tests launch there too."""
    return deploy_contracts(anvil, chains_file=chains_file)


def _forget_chains() -> None:
    installed_chains.installed_chain.cache_clear()
    installed_chains.installed_chain_second_node_first.cache_clear()
    installed_chains.installed_solana.cache_clear()
    installed_signers.installed_signers.cache_clear()


@pytest.fixture
def forget_chains() -> Iterator[Callable[[], None]]:
    """Return a function to call after changing chain or signer settings: they are read once per process."""
    _forget_chains()
    yield _forget_chains
    _forget_chains()


class ModuleWorld(NamedTuple):
    """Settings for a module's tests, and the function to call after changing chain settings."""

    settings: Any
    forget_chains: Callable[[], None]


@pytest.fixture(scope="module")
def module_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[ModuleWorld]:
    """Keep rows and settings of a module's fixtures until its last test; each test's own changes are undone after it.

    Only for modules whose tests all run in transactions.
    """
    changed = Settings(_is_pytest_django=True)
    with django_db_blocker.unblock(), transaction.atomic():
        yield ModuleWorld(changed, _forget_chains)
        transaction.set_rollback(True)
    changed._finalize()
    _forget_chains()


@pytest.fixture
def launchpad(
    deployment: DevelopmentContracts, chains_file: Path, settings: Any, forget_chains: Callable[[], None]
) -> Launchpad:
    """Install the service with the development chain, and return a way to launch there."""
    settings.CHAINS_FILES = (str(chains_file),)
    settings.RPC_URLS = {CHAIN_ID: (deployment.rpc_url,)}
    forget_chains()
    return Launchpad(deployment)


@pytest.fixture(scope="session")
def second_deployment(chains_file: Path) -> Iterator[DevelopmentContracts]:
    """Deploy the contracts on a node whose blocks and clock tests may change: each returns it to its former state."""
    with run_anvil() as url:
        yield deploy_contracts(url, chains_file=chains_file)


@pytest.fixture
def own_launchpad(
    second_deployment: DevelopmentContracts, chains_file: Path, settings: Any, forget_chains: Callable[[], None]
) -> Iterator[Launchpad]:
    """Return a `launchpad` whose blocks and clock a test may change: its node returns to its first state after it."""
    settings.CHAINS_FILES = (str(chains_file),)
    settings.RPC_URLS = {CHAIN_ID: (second_deployment.rpc_url,)}
    forget_chains()
    # Cached by contract: each test's presales begin with id 1.
    _delete_keys(redis_connection.redis_client(), "shared:presale")
    own = Launchpad(second_deployment)
    with own.restored_node():
        yield own


@pytest.fixture
def read_key(db: None) -> dict[str, str]:
    """Return a header for a partner who may read, and nothing else."""
    return {"x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ])}


@pytest.fixture
def fetch(request: pytest.FixtureRequest, client: Client, read_key: dict[str, str]) -> Callable[..., Any]:
    """Return a function that sends parameters to the module's PATH with a key, and returns the response."""
    return lambda **parameters: client.get(request.module.PATH, parameters, headers=read_key)


@pytest.fixture
def index_key(db: None) -> dict[str, str]:
    """Return a header for a partner who may have transactions indexed, and nothing else."""
    return {"x-api-key": credentials.issue_key("Indexer", scopes=[Scope.INDEX])}


@pytest.fixture
def deploy_key(db: None) -> dict[str, str]:
    """Return a header for a partner who may have tokens launched, and nothing else."""
    return {"x-api-key": credentials.issue_key("Launcher", scopes=[Scope.DEPLOY])}


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    """Return a superuser's client."""
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def support(client: Client, db: None) -> Client:
    """Return a client for a user who may see everything and change nothing."""
    user = User.objects.create_user("support", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(user)
    return client


@pytest.fixture
def social(settings: Any) -> Iterator[SocialStandIn]:
    """Run a stand-in for the social provider, Neynar, with the circuit breaker closed."""
    redis_connection.redis_client().delete(social_refresh.CIRCUIT_BREAKER.key)
    with SocialStandIn() as running:
        settings.SOCIAL_BASE_URL, settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = running.url, "sample", ""
        yield running
    redis_connection.redis_client().delete(social_refresh.CIRCUIT_BREAKER.key)


@pytest.fixture
def unmet_limits(settings: Any) -> None:
    """Have all rate limits count and report each call, and refuse none."""
    for name in _RATE_LIMITS:
        setattr(settings, name, 1_000_000)


def _delete_keys(client: Redis, *kinds: str) -> None:
    """Delete the service's keys in Redis that begin with these words."""
    for kind in kinds:
        for key in client.scan_iter(f"{redis_connection.PREFIX}{kind}*"):
            client.delete(key)


@pytest.fixture
def no_calls() -> None:
    """Delete all call counters: rate limits and key usage."""
    _delete_keys(redis_connection.redis_client(), "limit:", "calls")


@pytest.fixture
def market(settings: Any) -> Iterator[MarketStandIn]:
    """Run a stand-in for the market-data provider's free tier, for all chains, at a limit that never blocks."""
    client = redis_connection.redis_client()
    _delete_keys(client, "market:", "shared:", "limit:trending:")
    with MarketStandIn() as running:
        settings.MARKET_PROVIDER_CHAINS, settings.MARKET_BASE_URL = tuple(registry().chains), running.url
        settings.MARKET_API_KEY, settings.MARKET_CATEGORY = "", ""
        settings.MARKET_CALLS_PER_MINUTE = 10_000
        yield running
    _delete_keys(client, "market:", "shared:", "limit:trending:")


@dataclass(frozen=True)
class Message:
    """A message that is queued in the broker."""

    task: str
    args: list[Any]
    # ISO 8601, None for at once.
    eta: str | None
    # None without one.
    request_id: str | None


@pytest.fixture
def queue() -> Iterator[Callable[[], list[Message]]]:
    """Return the broker's queued messages, each queue's oldest first; empty at the start."""
    names = [*QUEUES]
    with celery_app.connection_for_write() as broker:
        client = broker.default_channel.client

        def messages() -> list[Message]:
            found = [json.loads(text) for name in names for text in reversed(client.lrange(name, 0, -1))]
            return [
                Message(
                    task=message["headers"]["task"],
                    args=json.loads(base64.b64decode(message["body"]))[0],
                    eta=message["headers"]["eta"],
                    request_id=message["headers"].get("request_id"),
                )
                for message in found
            ]

        client.delete(*names)
        yield messages
        client.delete(*names)


@pytest.fixture
def beat_runs() -> Iterator[None]:
    """Enter the periodic tasks as beat does when it starts, so that none is late."""
    client = redis_connection.redis_client()
    client.delete("launchboard:periodic_runs")
    record_schedule(timezone.now())
    yield
    client.delete("launchboard:periodic_runs")


@pytest.fixture
def own_server(settings: Any) -> Iterator[OwnServer]:
    """Return the service's Redis for this test, which may do with it as it likes."""
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as place:
        server = OwnServer(Path(place))
        settings.REDIS_URL = server.url
        yield server
        server.stop(signal.SIGKILL)


@pytest.fixture
def database_at(db: None) -> Iterator[Callable[[int], None]]:
    """Return a function that replaces the test's connection by one to a loopback port."""
    of_test = connections["default"]

    def move(port: int) -> None:
        connections["default"] = of_test.copy()
        place = {"HOST": "127.0.0.1", "PORT": str(port), "PASSWORD": "hidden-password"}
        connections["default"].settings_dict.update(place)

    yield move
    connections["default"] = of_test


@pytest.fixture
def unused_port() -> int:
    """Return a TCP port without a listener on this machine."""
    return free_port()


@pytest.fixture
def service_environment(transactional_db: None, settings: Any) -> dict[str, str]:
    """Return a service process's environment with this test's database and its own empty broker."""
    nodes = {f"RPC_URLS_{chain_id}": ",".join(urls) for chain_id, urls in settings.RPC_URLS.items()}
    own = {"SECRET_KEY": settings.SECRET_KEY, "CHAINS_FILE": ",".join(settings.CHAINS_FILES)}
    return environment_on(str(connection.settings_dict["NAME"])) | nodes | own
