"""`make run`, or `python -m development.run`: the whole service in one terminal, until Ctrl-C.

The processes come from the Procfile, which production uses as well. Around them it provides everything that is not
configured: bundled servers, tables, accounts, a development chain, and stand-ins for outside services.
"""

import errno
import fcntl
import io
import json
import os
import shlex
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType

import django
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

from config.environment.installation_variables import ServerVariables
from config.environment.kinds import join_list
from config.environment.server_urls import check_database, is_web_server_up, reachable_url
from config.environment.variables import BASE_DIR, load_env_file, read_variables
from config.redis.connection import check_redis
from development import run_chains, run_standins, run_webhooks, running_chain
from development.devchain import anvil
from development.sample_data import agent_reporter
from development.servers import bundled
from development.servers.processes import end_with_parent, free_port
from development.servers.unprivileged import server_home
from development.supervisor import StartFailedError, Supervisor
from tokens.checks import CHAINS, UNKNOWN_VARIABLE

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Timeout for a starting server without progress.
_START_SECONDS = 90.0
# Timeout for the first sample token, which the greeting names.
_SAMPLE_SECONDS = 60.0
_CHAIN_PORT = 8545
# Past block states that the node keeps; each takes about 0.3 MB memory.
_CHAIN_STATES = 64
_CHAIN_WEBSOCKET = f"RPC_WS_URL_{anvil.CHAIN_ID}"
_CHAIN_FROM = f"FOLLOW_FROM_{anvil.CHAIN_ID}"
# Its name in the Procfile.
_FOLLOWER = "follower"
_TRY_AS_USER = """  As a user         curl {address} \\
                      -H "Authorization: Bearer $(.venv/bin/python manage.py user_token --fid 12345)"
"""


def main() -> None:
    # SIGINT too: a shell that starts a program in the background makes it ignore that signal.
    for number in _SIGNALS:
        signal.signal(number, _interrupt)
    # If the parent is killed, as make may be, this program ends all its processes.
    end_with_parent(signal.SIGTERM)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        load_env_file()
        _run()
    except (KeyboardInterrupt, BrokenPipeError):
        # Ctrl-C or a closed terminal is the regular way to end this program.
        return
    except (ImproperlyConfigured, StartFailedError, CommandError) as error:
        sys.exit(f"launchboard: {error}")


def _run() -> None:
    environment = _read_settings()
    host, port = settings.WEB_HOST, settings.PORT
    _check_single_run()
    _check_address(host, port, names="WEB_HOST PORT")
    _check_address(settings.STREAM_HOST, settings.STREAM_PORT, names="STREAM_HOST STREAM_PORT")
    _check_servers()
    django.setup()
    _check_system()
    _print_line("launchboard", "starting")
    bundled.ensure_running()
    call_command("migrate", verbosity=0, interactive=False)
    accounts = _prepare_accounts()
    supervisor = Supervisor(directory=BASE_DIR, say=_print_line)
    try:
        chain = _start_chain(supervisor, environment)
        sample_ports = _start_stand_ins(supervisor, environment | chain)
        environment |= chain | run_standins.standin_settings(sample_ports)
        if run_chains.has_development_chain(environment):
            environment |= agent_reporter.RANKING_SETTINGS | run_webhooks.receiver_settings(environment)
        running_chain.publish_settings(chain | run_standins.command_settings(sample_ports))
        local = bundled.local_directory()
        run_webhooks.start_receiver(supervisor, environment, local=local, find_free_port=free_port)
        commands = _read_procfile()
        if not run_chains.chain_ids(chain):
            # Without a chain the follower would exit again and again.
            del commands[_FOLLOWER]
        for name, command in commands.items():
            supervisor.start(name, ["/bin/sh", "-c", f"exec {command}"], environment=environment)
        supervisor.wait_until(
            lambda: is_web_server_up(host, port), seconds=_START_SECONDS, what="the web server", process="web"
        )
        supervisor.wait_until(
            lambda: is_web_server_up(settings.STREAM_HOST, settings.STREAM_PORT),
            seconds=_START_SECONDS,
            what="the stream",
            process="stream",
        )
        _start_samples(supervisor, environment)
        services = run_standins.services_greeting(sample_ports)
        has_users = "issuer" in sample_ports
        token = _find_sample_token(supervisor, environment)
        print(_greeting(environment, accounts, services, token, has_users=has_users), flush=True)
        while True:
            supervisor.attend(seconds=1.0)
            # Restarts a bundled server after its keeper was killed; cheap otherwise.
            bundled.ensure_running()
    finally:
        _ignore_signals()
        _print_line("launchboard", "stopping, which may take a minute; another Ctrl-C changes nothing")
        supervisor.stop()
        running_chain.remove_settings()


def _read_settings() -> dict[str, str]:
    """Return the processes' environment. Raises ImproperlyConfigured for an invalid setting."""
    own = {
        "PORT": str(settings.PORT),
        "WEB_HOST": settings.WEB_HOST,
        "WEB_WORKERS": str(settings.WEB_WORKERS),
        "WEB_HEADER_TIMEOUT_SECONDS": str(settings.WEB_HEADER_TIMEOUT_SECONDS),
        "WEB_MAX_MEMORY_MB": str(settings.WEB_MAX_MEMORY_MB),
        "WORKER_PROCESSES": str(settings.WORKER_PROCESSES),
        "STREAM_HOST": settings.STREAM_HOST,
        "STREAM_PORT": str(settings.STREAM_PORT),
        "PYTHONUNBUFFERED": "1",
        # Celery would warn about root in a container, too; production shows the warning.
        "PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", "ignore:You're running the worker with superuser"),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
    }
    return os.environ | own


def _check_single_run() -> None:
    """Raise StartFailedError if another run uses the same data: scheduled tasks would be sent twice.

    The kernel releases the lock when this process ends.
    """
    bundled.make_local_directory()
    path = running_chain.run_lock()
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StartFailedError(f"it already runs with the data in {path.parent}") from None


def _check_address(host: str, port: int, *, names: str) -> None:
    """Raise StartFailedError if a server can't bind the address; `names` are its host and port variables."""
    of_host, of_port = names.split()
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            advice = f"set {of_port} to a free one"
        else:
            advice = f"set {of_host} to an address of this machine"
        raise StartFailedError(f"can't listen on {host} port {port} ({error.strerror}): {advice}") from error


def _check_servers() -> None:
    """Connect to servers that are not bundled. Raises ImproperlyConfigured if one does not respond."""
    variables = read_variables(ServerVariables)
    if variables.DATABASE_URL:
        check_database(connection.get_connection_params())
    if variables.REDIS_URL:
        check_redis()


def _check_system() -> None:
    """Run the chain checks. Raises StartFailedError for errors; prints warnings.

    Without configured chains it prints only warnings about variables: other warnings would be about the development
    chain. That chain's registry file is written when it starts, so its launchpads are not checked here.
    """
    of_settings = settings.LAUNCHPADS
    if not run_chains.evm_chain_ids():
        settings.LAUNCHPADS = {id_: names for id_, names in of_settings.items() if id_ != anvil.CHAIN_ID}
    messages = checks.run_checks(tags=(CHAINS,))
    settings.LAUNCHPADS = of_settings
    for message in messages:
        if message.is_serious():
            raise StartFailedError(f"{message.msg} {message.hint or ''}".strip())
        if settings.RPC_URLS or message.id == UNKNOWN_VARIABLE:
            _print_line("launchboard", str(message))


def _prepare_accounts() -> dict[str, str]:
    """Return the key as `partnerKey` and, only with the bundled database, the administrator's `password`."""
    output = io.StringIO()
    options = [] if read_variables(ServerVariables).DATABASE_URL else ["--administrator"]
    call_command("prepare_local_accounts", str(bundled.local_directory()), *options, stdout=output)
    credentials: dict[str, str] = json.loads(output.getvalue())
    return credentials


def _read_procfile() -> dict[str, str]:
    lines = (BASE_DIR / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line)


def _start_chain(supervisor: Supervisor, environment: Mapping[str, str]) -> dict[str, str]:
    """Start the development chain if no node is configured; return the settings that point to it."""
    program = anvil.find_anvil()
    if run_chains.evm_chain_ids() or program is None:
        return {}
    local = bundled.local_directory()
    port = free_port(_CHAIN_PORT)
    url, chains_file = f"http://{anvil.HOST}:{port}", local / "chains.toml"
    command = anvil.anvil_command(program, port=port, state=local / "chain.json", states=_CHAIN_STATES)
    supervisor.start("chain", command, environment=environment, stop_seconds=anvil.STOP_SECONDS)
    supervisor.wait_until(lambda: _listens(port), seconds=_START_SECONDS, what="the development chain", process="chain")
    # A separate process: otherwise the chain libraries would stay in this process's memory.
    deploy = [sys.executable, "-m", "development.devchain.deploy_contracts", url, str(chains_file)]
    supervisor.run("chain", deploy, environment=environment)
    return {
        run_chains.DEVELOPMENT_RPC_URLS: url,
        # The node serves HTTP and WebSocket on one port.
        _CHAIN_WEBSOCKET: f"ws://{anvil.HOST}:{port}",
        # From the first block, to include manual launches.
        _CHAIN_FROM: "0",
        # Before the operator's own files, which may override it, as for commands beside this run.
        "CHAINS_FILE": join_list((str(chains_file), str(anvil.LAUNCHPADS_FILE), *settings.CHAINS_FILES)),
        **run_chains.launchpad_settings(),
        **run_chains.deployer_settings(),
    }


def _start_stand_ins(supervisor: Supervisor, environment: Mapping[str, str]) -> dict[str, int]:
    """Start stand-ins for services that are not configured; return their ports by name."""
    ports = run_standins.choose_ports(free_port)
    if ports:
        arguments = [f"{name}={port}" for name, port in ports.items()]
        sources = [f"service={_address(environment)}", f"node={environment.get(run_chains.DEVELOPMENT_RPC_URLS, '')}"]
        command = [sys.executable, "-m", "development.standins", *arguments, *sources]
        supervisor.start("stand-ins", command, environment=environment)
    return ports


def _start_samples(supervisor: Supervisor, environment: Mapping[str, str]) -> None:
    """Start the launcher, the traders and the sample agents' reporter, if this run has a development chain."""
    if not run_chains.has_development_chain(environment):
        return
    intervals = {"launcher": settings.LAUNCH_EVERY_SECONDS, "trader": settings.TRADE_EVERY_SECONDS}
    for name, seconds in intervals.items():
        options = ["--rpc-url", environment[run_chains.DEVELOPMENT_RPC_URLS], "--every", str(seconds)]
        command = [sys.executable, "-m", f"development.devchain.{name}", *options]
        supervisor.start(name, command, environment=environment)
    arguments = [_address(environment), str(bundled.local_directory() / "partner-key")]
    supervisor.start(
        "agents", [sys.executable, "-m", "development.sample_data.agent_reporter", *arguments], environment=environment
    )


def _find_sample_token(supervisor: Supervisor, environment: Mapping[str, str]) -> str:
    """Return a development chain token's address; empty if none is listed within the timeout."""
    if not run_chains.has_development_chain(environment):
        return ""
    tokens: list[str] = []

    def find() -> bool:
        tokens.extend(run_chains.find_tokens(_address(environment)))
        return bool(tokens)

    with suppress(StartFailedError):
        supervisor.wait_until(find, seconds=_SAMPLE_SECONDS, what="the sample launch")
    return next(iter(tokens), "")


def _greeting(
    environment: Mapping[str, str], accounts: Mapping[str, str], services: str, token: str, *, has_users: bool
) -> str:
    address, local = _address(environment), bundled.local_directory()
    is_development = run_chains.has_development_chain(environment)
    if "password" not in accounts:
        login = "make one with `manage.py createsuperuser`"
    else:
        login = f"admin, password {accounts['password'] or 'set earlier; `manage.py changepassword admin` changes it'}"
    deploying = run_chains.deploy_greeting(address, partner_key=accounts["partnerKey"]) if is_development else ""
    market = run_chains.market_greeting(address, token=token) if token else ""
    events = run_webhooks.events_greeting(address, partner_key=accounts["partnerKey"], has_receiver=is_development)
    home = server_home(local)
    databases = "" if home == local else f"\n  Databases         {home}"
    user = _TRY_AS_USER.format(address=shlex.quote(f"{address}/api/pretoken/pending")) if has_users else ""
    return f"""
{_site_greeting(address)}
  API               {address}/api/docs
  Administration    {address}/admin/  ({login})
  Partner key       {accounts["partnerKey"]}
{run_chains.chains_greeting(environment, address)}
{services}
{agent_reporter.leaderboard_greeting(address, are_samples=is_development)}
  Data, keys, logs  {local}{databases}
  Try               curl {shlex.quote(f"{address}/api/tokens?limit=3")}
  Stream            curl -N {shlex.quote(f"{settings.STREAM_URL}/api/tokens/stream")}
{market}{events}{deploying}{user}  Ctrl-C stops everything.
"""


def _site_greeting(address: str) -> str:
    """Return the greeting's lines about this installation's public pages."""
    sections = {"leaderboard": "Leaderboard", "status": "Status", "docs": "First steps"}
    pages = {title: section for section, title in sections.items() if section in settings.SITE_SECTIONS}
    return "\n".join(f"  {title:<17} {address}/{path}" for title, path in {"Public site": "", **pages}.items())


def _address(environment: Mapping[str, str]) -> str:
    return reachable_url(environment["WEB_HOST"], settings.PORT)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((anvil.HOST, port)) == 0


def _print_line(name: str, line: str) -> None:
    print(f"{name:>11} | {line}", flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # A second signal would interrupt the stop: a terminal's signal and the parent's end may come together.
    _ignore_signals()
    raise KeyboardInterrupt


def _ignore_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
