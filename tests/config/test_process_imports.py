"""What each process of the Procfile, and a command, loads when it starts: seen in a fresh interpreter."""

import subprocess
import sys

import pytest

from config.environment.variables import BASE_DIR

# Process -> what its start imports.
STARTS = {
    "web": "from config import wsgi; from django.urls import get_resolver; get_resolver().url_patterns",
    "worker and beat": "from config.celery import app; app.loader.init_worker(); app.finalize()",
    "follower": "import django; django.setup(); from tokens.management.commands import follow",
    "command": "import django; django.setup(); from django.core.checks import run_checks; run_checks()",
}
# Only the process that builds a ranking needs the first two, and only the development chain's clients the third.
HEAVY = ("numpy", "scipy", "web3")


@pytest.mark.parametrize("process", STARTS)
def test_a_process_starts_without_heavy_libraries(process: str) -> None:
    code = f"import sys; {STARTS[process]}; print(*({{name.partition('.')[0] for name in sys.modules}} & {set(HEAVY)}))"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=BASE_DIR, text=True)
    assert loaded.split() == []
