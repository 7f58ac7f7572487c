"""The client for TypeScript against a real server: inputs, errors, pages and webhooks, with checked types."""

import json
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from development.standins.loopback import Reply
from tests.clients.quick_starts import read_guide_samples
from tests.clients.scripted_server import page, scripted_server
from tests.clients.typescript_package import run_program
from tests.processes.example_code import compile_typescript

SECRET = "whsec_" + "A" * 43
_PAGES = """
import { answerOf, launchboard, LaunchboardError, pages } from "launchboard-client";
const api = launchboard(process.env.SERVER ?? "", { userToken: "t", retries: 0 });
for await (const page of pages((cursor) =>
  api.GET("/api/tokens", { params: { query: { q: "a&b", fids: [1, 2], includeMarket: true, cursor } } }))) {
  console.log(page.data.length);
}
for await (const page of pages((after) => api.GET("/api/events", { params: { query: { after } } }))) {
  console.log(page.cursor);
}
const tokenAddress = "0x1";
for await (const page of pages((cursor) =>
  api.GET("/api/airdrops/allocations", { params: { query: { tokenAddress, cursor } } }))) {
  console.log(page.allocations.length);
}
try {
  await answerOf(api.GET("/api/tokens/trending"));
} catch (error) {
  if (error instanceof LaunchboardError) console.log(error.status, error.message, error.body.details?.[0]?.field);
}
"""
_WEBHOOK = """
import type { IncomingHttpHeaders } from "node:http";
import { verifyWebhook, WebhookVerificationError } from "launchboard-client/webhooks";
const [body, headers, secret] = JSON.parse(process.env.DELIVERY ?? "");
const event = verifyWebhook(body, headers, secret);
console.log(event.type === "token.indexed" ? event.data.name : event.type);
// As node:http and fetch have them.
const received: IncomingHttpHeaders = { ...headers, "set-cookie": [], host: undefined };
console.log(verifyWebhook(body, received, secret).type, verifyWebhook(body, new Headers(headers), secret).type);
for (const signature of [`v1,x ${headers["webhook-signature"]}x`, "garbage", "v1", "v1,a,b", "v1,\u00e9"]) {
  try {
    verifyWebhook(body, { ...headers, "webhook-signature": signature }, secret);
  } catch (error) {
    console.log(error instanceof WebhookVerificationError);
  }
}
"""

# Aborts a call during its wait for another attempt, and makes one with two attempts without a response.
_LIMITS = """
import { launchboard, type Options } from "launchboard-client";
const call = async (server: string | undefined, options: Options, signal?: AbortSignal) => {
  const began = performance.now();
  const sent = launchboard(server ?? "", options).GET("/api/status", { signal });
  console.log(await sent.then(() => "a response", (error: Error) => error.name), performance.now() - began);
};
const request = new AbortController();
setTimeout(() => request.abort(), 2000);
await call(process.env.BUSY, {}, request.signal);
await call(process.env.MUTE, { retries: 1, timeoutSeconds: 1 });
"""


def test_inputs_pages_and_errors(typescript: Path) -> None:
    refused = Reply(b'{"error":"Not so","details":[{"field":"limit","message":"x"}]}', 400)
    allocations = [Reply(json.dumps({"allocations": [{}], "cursor": cursor}).encode()) for cursor in ("b", None)]
    replies = [page(2, "b"), page(0, "c"), page(1, None), page(1, 7), page(0, 7), *allocations, refused]
    with scripted_server(*replies) as server:
        output = run_program(_PAGES, typescript, SERVER=server.url)
        assert output.splitlines() == ["2", "0", "1", "7", "7", "1", "1", "400 400: Not so limit"]
        query = "q=a%26b&fids=1,2&includeMarket=true"
        assert [request.path for request in server.requests[:7]] == [
            f"/api/tokens?{query}",
            f"/api/tokens?{query}&cursor=b",
            f"/api/tokens?{query}&cursor=c",
            "/api/events",
            "/api/events?after=7",
            "/api/airdrops/allocations?tokenAddress=0x1",
            "/api/airdrops/allocations?tokenAddress=0x1&cursor=b",
        ]
        assert server.requests[0].headers["authorization"] == "Bearer t"


def test_a_delivery_is_verified(typescript: Path) -> None:
    body = '{"id":1,"type":"token.indexed","data":{"name":"Dog"}}'
    now = datetime.now(UTC)
    headers = {
        "webhook-id": "1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("1", now, body),
    }
    output = run_program(_WEBHOOK, typescript, DELIVERY=json.dumps([body, headers, SECRET]))
    assert output.splitlines() == ["Dog", "token.indexed token.indexed", *["true"] * 5]


def test_an_abort_and_the_limit_of_an_attempt_end_a_call(typescript: Path) -> None:
    busy = Reply(b'{"error":"Not now"}', 503, {"retry-after": "50"})
    with scripted_server(busy) as server, socket.create_server(("127.0.0.1", 0)) as mute:
        urls = {"BUSY": server.url, "MUTE": f"http://127.0.0.1:{mute.getsockname()[1]}"}
        output = run_program(_LIMITS, typescript, **urls)
    aborted, limited = (line.split() for line in output.splitlines())
    assert (aborted[0], limited[0]) == ("AbortError", "TimeoutError")
    assert float(aborted[1]) < 30_000
    # Two one-second attempts, and half a second between them.
    assert 2_500 <= float(limited[1]) < 20_000


def test_a_page_of_a_browser_needs_no_types_of_node(typescript: Path) -> None:
    code = 'import { launchboard } from "launchboard-client";\nconsole.log(await launchboard("").GET("/api/status"));\n'
    options = ("--lib", "es2023,dom", "--types", "", "--skipLibCheck", "false")
    compile_typescript({"page": code}, typescript, *options)


def test_types_of_the_guide_s_sample_of_webhooks_are_checked(typescript: Path) -> None:
    types = (
        'import type { IncomingMessage } from "node:http";\ndeclare const request: IncomingMessage, secret: string;\n'
    )
    compile_typescript({"webhook": types + read_guide_samples("ts")[1]}, typescript)


def test_a_misspelled_field_is_an_error(typescript: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="includeMarkets"):
        run_program(_PAGES.replace("includeMarket:", "includeMarkets:"), typescript)
