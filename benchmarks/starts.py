"""Start benchmark: CPU in each process and command up to its first action, and the memory that `make run` takes.

    python -m benchmarks.starts [--tree .] [--rounds 5]

A start is user and system time, the rounds' median, with byte code, beside a running `make run`. The floor is the
import of Django's command line. Memory is the proportional set size (PSS) in all processes, bundled servers included,
45 s after the greeting. The tree is any commit's checkout with a `.venv`. Exits with code 1 where `manage.py
help` takes longer than the limit.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.harness import Limits, keep, parse_quantities, print_table
from development.servers.processes import free_port

_LIMIT_SECONDS = 1.0
_SETTLED_SECONDS = 45
_COMMAND = (
    "import django; django.setup(); from django.core.management import get_commands, load_command_class; "
    "command = load_command_class(get_commands()['{0}'], '{0}'); command.handle = lambda **_: None; "
    "command.execute(no_color=False, force_color=False, skip_checks=False)"
)
_COMMANDS = ("follow", "index_transactions", "issue_partner_key")
# What starts -> the interpreter's arguments.
_STARTS = {
    "Django's command line (floor)": ("-c", "import django.core.management"),
    "manage.py help": ("manage.py", "help"),
    "web": ("-c", "from config import wsgi, urls"),
    "worker": ("-c", "from config.celery import app; app.loader.init_worker(); app.finalize()"),
    "beat": ("-c", "from config.celery import app; app.Beat(quiet=True).init_loader()"),
} | {f"manage.py {name}": ("-c", _COMMAND.format(name)) for name in _COMMANDS}


def main() -> int:
    options = parse_quantities(__doc__, tree=Path(), rounds=5)
    figures = _measure_tree(options.tree.resolve(), rounds=options.rounds)
    print_table(["", "figure"], list(figures.items()))
    limits = Limits()
    limits.at_most("manage.py help", figures["manage.py help"], _LIMIT_SECONDS, "s")
    git = ["git", "-C", str(options.tree), "rev-parse", "--short", "HEAD"]
    commit = subprocess.check_output(git, text=True).strip()
    keep(f"starts_{commit}", {"load": round(os.getloadavg()[1], 1), **figures})
    return 0 if limits.are_kept else 1


def _measure_tree(tree: Path, *, rounds: int) -> dict[str, float]:
    """Return label -> each start's CPU seconds, MB in `make run`, and its process count."""
    with make_run(tree) as (run, environment):
        time.sleep(_SETTLED_SECONDS)
        sizes = list(_sizes(run))
        # While the bundled servers run, so that no command starts them.
        figures = {label: _cpu(tree, arguments, environment, rounds) for label, arguments in _STARTS.items()}
    return figures | {"MB of `make run` (PSS)": round(sum(sizes) / 1024), "processes of `make run`": len(sizes)}


def _cpu(tree: Path, arguments: Sequence[str], environment: dict[str, str], rounds: int) -> float:
    command = [str(tree / ".venv/bin/python"), *arguments]
    seconds = []
    # The first one compiles modules.
    for _ in range(rounds + 1):
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} ended with code {process.returncode}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return round(statistics.median(seconds[1:]), 2)


@contextmanager
def make_run(tree: Path) -> Iterator[tuple[psutil.Process, dict[str, str]]]:
    """Run the `make run` module with new data while the block runs; yield its process and environment."""
    command = [str(tree / ".venv/bin/python"), "-m", "development.run"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONUNBUFFERED": "1"}
    environment |= {"PORT": str(free_port()), "STREAM_PORT": str(free_port())}
    with (
        tempfile.TemporaryDirectory(prefix="launchboard-run-", ignore_cleanup_errors=True) as local,
        (log := Path(local, "run.log")).open("wb") as output,
        subprocess.Popen(
            command, cwd=tree, env=(environment := environment | {"LAUNCHBOARD_LOCAL": local}), stdout=output
        ) as process,
    ):
        try:
            while "Ctrl-C stops everything" not in log.read_text(encoding="utf-8"):
                if process.poll() is not None:
                    raise RuntimeError(f"{tree}: `make run` ended without its greeting")
                time.sleep(0.1)
            yield psutil.Process(process.pid), environment
        finally:
            process.terminate()


def _sizes(run: psutil.Process) -> Iterator[float]:
    """Yield the proportional set size for a process and for each below it in kB."""
    for process in (run, *run.children(recursive=True)):
        # A connection's process may end meanwhile.
        with suppress(psutil.NoSuchProcess):
            yield process.memory_full_info().pss / 1024


if __name__ == "__main__":
    sys.exit(main())
