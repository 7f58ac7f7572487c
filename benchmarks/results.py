"""Benchmark results as JSON, beside the tables in README.md that were made from them."""

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

_DIRECTORY = Path(__file__).parent / "results"


def keep(name: str, result: dict[str, Any]) -> None:
    """Write `results/<name>.json`, with a machine description."""
    machine = {
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    _DIRECTORY.mkdir(exist_ok=True)
    text = json.dumps({"on": machine, **result}, indent=2)
    (_DIRECTORY / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
