"""Examples of the page for integrators, run as a visitor runs them."""

import html
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def read_examples(page: str) -> dict[tuple[str, str], str]:
    """Return the code on the page as a visitor copies it, by task and language."""
    found = {}
    for section in page.split("<section ")[1:]:
        for language, code in re.findall(r'<div class="example (\w+)">.*?<pre[^>]*><code>(.*?)</code>', section, re.S):
            found[section.split('"')[1].removeprefix("example-"), language] = html.unescape(code)
    return found


def command(language: str, code: str, directory: Path) -> list[str]:
    """Return the command that runs an example."""
    if language == "curl":
        return ["/bin/sh", "-c", code]
    # Without types that Node would have to remove, the examples are JavaScript modules, too.
    path = directory / ("example.py" if language == "python" else "example.mjs")
    path.write_text(code)
    return [sys.executable, str(path)] if language == "python" else ["node", str(path)]


def run_example(language: str, code: str, directory: Path, **variables: str) -> str:
    """Run an example to its end, and return its output."""
    done = subprocess.run(
        command(language, code, directory), env=os.environ | variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def running(language: str, code: str, directory: Path, **variables: str) -> Iterator[Callable[[], str]]:
    """Run an example that goes on for ever while the block runs, with a function that returns its output so far."""
    output = directory / "output"
    with output.open("wb") as target:
        process = subprocess.Popen(
            command(language, code, directory), env=os.environ | variables, stdout=target, start_new_session=True
        )
    try:
        yield output.read_text
    finally:
        process.kill()
        process.wait()
