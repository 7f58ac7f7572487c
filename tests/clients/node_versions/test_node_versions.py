"""Node versions after the installed one: the compiled client for TypeScript, and the contracts' compiler."""

import os
import subprocess
from pathlib import Path

import pytest

from config.environment.variables import BASE_DIR
from tests.clients.scripted_server import page, scripted_server
from tests.clients.typescript_package import find_node, install_package, run_program

pytestmark = pytest.mark.slow

_VERSIONS = Path(__file__).parent / "node_modules"
_DEVCHAIN = BASE_DIR / "development" / "devchain"
_PROGRAM = """
import { launchboard, pages } from "launchboard-client";
import { verifyWebhook, WebhookVerificationError } from "launchboard-client/webhooks";
const api = launchboard(process.env.SERVER ?? "", { userToken: "t" });
for await (const page of pages((cursor) => api.GET("/api/tokens", { params: { query: { q: "a&b", cursor } } }))) {
  console.log(page.data.length);
}
try {
  verifyWebhook("{}", { "webhook-id": "1" }, process.env.SECRET ?? "");
} catch (error) {
  console.log(error instanceof WebhookVerificationError);
}
console.log(process.versions.node.split(".")[0]);
"""


@pytest.fixture(params=["22", "24"])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put a Node version first on the PATH, and return its first number."""
    programs = _VERSIONS / f"node-{request.param}" / "bin"
    assert (programs / "node").exists(), "Node is not installed: npm ci in tests/clients/node_versions"
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return str(request.param)


def test_the_client_compiles_and_runs(version: str, tmp_path: Path) -> None:
    directory = install_package(tmp_path)
    with scripted_server(page(2, "b"), page(1, None)) as server:
        output = run_program(_PROGRAM, directory, SERVER=server.url, SECRET="whsec_" + "A" * 43)
        assert output.split() == ["2", "1", "true", version]
        assert [request.path for request in server.requests] == ["/api/tokens?q=a%26b", "/api/tokens?q=a%26b&cursor=b"]
        assert server.requests[0].headers["authorization"] == "Bearer t"


def test_the_contracts_compile_to_the_committed_bytes(version: str, tmp_path: Path) -> None:
    # 30 s on one core, and several times that beside other tests.
    subprocess.run([find_node(), "compile.mjs", "--out", str(tmp_path)], cwd=_DEVCHAIN, check=True, timeout=900)
    committed = {path.name: path.read_bytes() for path in (_DEVCHAIN / "artifacts").iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed
