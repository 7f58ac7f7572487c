"""Examples on the page for integrators, run as a visitor runs them."""

import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.environment.variables import BASE_DIR
from development.clients import CLIENTS

_PACKAGES = BASE_DIR / "development" / "devchain" / "node_modules"
# In a file whose name ends in .mts, code may await without a package.json. Types are Node's: with the types of
# browsers, a response body has any type. Libraries' own types may need them.
_COMPILER_OPTIONS = ("--strict", "--target", "es2023", "--lib", "es2023", "--module", "nodenext", "--skipLibCheck")
_TYPES = ("--types", "node", "--typeRoots", str(_PACKAGES / "@types"))


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
    if language == "python":
        path = directory / "example.py"
        path.write_text(code)
        return [sys.executable, str(path)]
    # Without types, in a fifth of the time.
    compile_typescript({"example": code}, directory, "--noCheck")
    return ["node", str(directory / "example.mjs")]


def check_types(examples: Mapping[str, str], directory: Path) -> None:
    """Check the types of TypeScript examples by name; fail the test with the compiler's output."""
    compile_typescript(examples, directory, "--noEmit")


def compile_typescript(examples: Mapping[str, str], directory: Path, *options: str) -> None:
    """Check examples' types by name and compile them to JavaScript; fail the test with the compiler's output."""
    library = directory / "node_modules" / "viem"
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        library.symlink_to(CLIENTS / "typescript" / "node_modules" / "viem")
    for name, code in examples.items():
        (directory / f"{name}.mts").write_text(code)
    node = shutil.which("node")
    assert node, "There is no node: install Node 20, 22 or 24."
    files = [f"{name}.mts" for name in examples]
    arguments = (*_COMPILER_OPTIONS, *_TYPES, "--noEmitOnError", *options, *files)
    compiler = [node, str(_PACKAGES / "typescript" / "bin" / "tsc"), *arguments]
    done = subprocess.run(compiler, cwd=directory, capture_output=True, text=True, timeout=120)
    if done.returncode:
        pytest.fail(done.stdout + done.stderr)


def run_example(language: str, code: str, directory: Path, **variables: str) -> str:
    """Run an example to its end, and return its output."""
    words, environment = command(language, code, directory), os.environ | variables
    done = subprocess.run(words, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
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
