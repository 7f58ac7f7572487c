"""What each process of the Procfile, and a command, loads when it starts: seen in a fresh interpreter."""

import subprocess
import sys

import pytest

from config.environment.variables import BASE_DIR

# Process -> what its start imports.
STARTS = {
    "web": "from config import wsgi; from django.urls import get_resolver; get_resolver().url_patterns",
    "worker": "from config.celery import app; app.loader.init_worker(); app.finalize()",
    "beat": "from config.celery import app; app.Beat(quiet=True).init_loader()",
    "follower": "import django; django.setup(); from tokens.management.commands import follow",
    "command": "import django; django.setup(); from django.core.checks import run_checks; run_checks()",
}
# Only the process that builds a ranking needs the first two, and only the development chain's clients the third.
# Workers sign with the fourth.
HEAVY = {"numpy", "scipy", "web3", "eth_account"}
NEEDED = {"worker": {"eth_account"}}


@pytest.mark.parametrize("process", STARTS)
def test_a_process_starts_without_heavy_libraries(process: str) -> None:
    code = f"import sys; {STARTS[process]}; print(*({{name.partition('.')[0] for name in sys.modules}} & {HEAVY}))"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=BASE_DIR, text=True)
    assert set(loaded.split()) == NEEDED.get(process, set())
