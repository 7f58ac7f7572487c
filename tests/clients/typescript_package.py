"""The client for TypeScript as an installed package, and a Node process that makes its calls."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from development.clients import CLIENTS
from tests.processes.example_code import compile_typescript

SOURCE = CLIENTS / "typescript"
# Makes the call in each JSON line, where a body may be a PNG file in base64, and prints its outcome: a status and a
# body, or a failed call's error.
_DRIVER = """
import { createInterface } from "node:readline";
import { launchboard, streamEvents } from "launchboard-client";
for await (const line of createInterface({ input: process.stdin })) {
  const { server, options, method, path, init } = JSON.parse(line);
  if (init.body?.png) {
    init.body = new Blob([Buffer.from(init.body.png, "base64")]);
    init.headers = { "Content-Type": "image/png" };
  }
  let outcome;
  try {
    const call = (more = {}) => launchboard(server, options)[method](path, { ...init, ...more });
    if (init.parseAs) {
      outcome = { status: 200, body: (await streamEvents(call).next()).value };
    } else {
      const { data, error, response } = await call();
      outcome = { status: response.status, body: data ?? error, cookie: response.headers.get("set-cookie") };
    }
  } catch (failure) {
    outcome = { failure: String(failure) };
  }
  console.log(JSON.stringify(outcome));
}
"""


def find_node() -> str:
    node = shutil.which("node")
    assert node, "There is no node: install Node 20, 22 or 24."
    return node


def install_package(directory: Path) -> Path:
    """Compile the package into a directory's `node_modules`, where a program may import it by its name."""
    modules = directory / "node_modules"
    package = modules / "launchboard-client"
    package.mkdir(parents=True)
    compiler = [find_node(), str(SOURCE / "node_modules" / "typescript" / "bin" / "tsc")]
    done = subprocess.run(
        [*compiler, "--project", str(SOURCE), "--outDir", str(package / "dist")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    shutil.copy(SOURCE / "package.json", package)
    for name in json.loads((SOURCE / "package.json").read_text())["dependencies"]:
        (modules / name).symlink_to(SOURCE / "node_modules" / name)
    return directory


class NodeClient:
    """A Node process with the client, which makes one call after the other."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def call(
        self, server: str, method: str, path: str, init: Mapping[str, Any] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return a call's outcome: `status`, `body` and `cookie`, or `failure`."""
        assert self._process.stdin and self._process.stdout
        call = {"server": server, "method": method, "path": path, "init": init or {}, "options": options}
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        outcome: dict[str, Any] = json.loads(self._process.stdout.readline())
        return outcome


@contextmanager
def node_client(directory: Path) -> Iterator[NodeClient]:
    """Run the process while the block runs, in a directory with the package."""
    (directory / "driver.mjs").write_text(_DRIVER)
    with subprocess.Popen(
        [find_node(), "driver.mjs"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield NodeClient(process)
        finally:
            process.kill()


def run_program(code: str, directory: Path, **variables: str) -> str:
    """Check the types of a program that imports the package, run it, and return its output."""
    compile_typescript({"program": code}, directory)
    done = subprocess.run(
        [find_node(), "program.mjs"],
        cwd=directory,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
