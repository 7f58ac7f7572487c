"""What each process in the Procfile, and a command, loads when it starts: seen in a fresh interpreter."""

import subprocess
import sys

import pytest
from django.core.management import get_commands, load_command_class

from config.environment.variables import BASE_DIR

# Process -> what its start imports. A command's start is the follower's without its module.
STARTS = {
    "web": "from config import wsgi; from django.urls import get_resolver; get_resolver().url_patterns",
    "worker": "from config.celery import app; app.loader.init_worker(); app.finalize()",
    "beat": "from config.celery import app; app.Beat(quiet=True).init_loader()",
    "follower": "import django; django.setup(); from tokens.management.commands.follow import Command; "
    "Command().check(tags=Command.requires_system_checks)",
    "stream": "from config.events.stream import __main__",
}
# Only the process that builds a ranking needs numpy, and only the development chain's clients web3. Workers sign with
# eth_account, which loads the others. eth_abi is loaded for the first contract call.
HEAVY = {"numpy", "web3", "eth_account", "eth_abi", "eth_utils", "pydantic"}
NEEDED = {"worker": {"eth_account", "eth_abi", "eth_utils", "pydantic"}}
# No command sends messages: sweepers enqueue the rows that it writes. Only the command for user tokens verifies tokens,
# and only the follower uses Redis.
QUEUES_AND_TOKENS = {"celery", "kombu", "redis", "jwt"}
# Whatever serves pages or the API.
PAGES = {"config.urls", "drf_spectacular.views"}


def run_python(code: str) -> set[str]:
    """Run the code in a fresh interpreter; return the words that it prints."""
    return set(subprocess.check_output([sys.executable, "-c", code], cwd=BASE_DIR, text=True).split())


@pytest.mark.parametrize("process", STARTS)
def test_a_process_starts_without_heavy_libraries(process: str) -> None:
    loaded = run_python(f"import sys; {STARTS[process]}; print(*sys.modules)")
    pages = PAGES if process == "web" else set()
    assert loaded & (HEAVY | PAGES) == NEEDED.get(process, set()) | pages
    # The stream needs no models and no API.
    assert process != "stream" or not {"config.events.models", "rest_framework", "celery", "redis"} & loaded


def our_commands() -> dict[str, str]:
    """Return name -> app for our own commands."""
    return {name: app for name, app in get_commands().items() if (BASE_DIR / app.replace(".", "/")).is_dir()}


def test_our_commands_run_only_checks_that_load_no_page() -> None:
    ours = our_commands()
    assert len(ours) > 10
    for name in ours:
        assert set(load_command_class(get_commands()[name], name).requires_system_checks) <= {"chains"}


def test_our_commands_load_no_heavy_libraries() -> None:
    ours = our_commands()
    # They rank agents, sign user tokens, open wallet keys, store sums for metrics, look at Redis, compare responses
    # that it caches, and read all views' description.
    heavy = ("compute_leaderboard", "user_token", "deploy_wallets", "follow", "doctor", "check_feeds", "write_clients")
    for name in heavy:
        del ours[name]
    code = f"""
import sys
import django
from django.core.management import load_command_class
django.setup()
commands = [load_command_class(app, name) for name, app in {ours}.items()]
print(len(commands), *{HEAVY | QUEUES_AND_TOKENS} & sys.modules.keys())
"""
    assert run_python(code) == {str(len(ours))}


def test_the_checks_of_the_admin_site_load_its_pages() -> None:
    code = """
import django
django.setup()
from django.contrib import admin
from django.core.checks import Error, run_checks
admin.ModelAdmin.check = lambda page: [Error(page.opts.label)]
print(*(message.msg for message in run_checks(tags=["admin"])))
"""
    assert {"tokens.Token", "accounts.PartnerKey", "leaderboard.Agent"} <= run_python(code)
