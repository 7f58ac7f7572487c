"""Attacks by many requests at once from one address: cheap to send, and allowed by the rate limits."""

import json
import secrets
from itertools import count

from benchmarks.attacks import connections
from benchmarks.attacks.target import Target

# Above this length a request's memory is released when it ends.
_LARGE_BODY = 262_200
_AT_ONCE = 200
_PAGES_AT_ONCE = 300
# MAX_CONTAINERS in config/api/parsing.py.
_LISTS = 150_000


def send_large_bodies(target: Target) -> None:
    """Send `GET /healthz` with a body of 262,200 bytes, eight at a time."""
    body = bytes(_LARGE_BODY)
    target.repeat(lambda _: target.request("GET", "/healthz", body=body), at_once=8, every=0)


def send_large_bodies_to_an_endpoint(target: Target) -> None:
    """Request launches with a body of 262,200 bytes and a partner key, eight at a time."""
    body = b'"' + b"a" * _LARGE_BODY + b'"'
    target.repeat(lambda _: target.request_launch(body), at_once=8, every=0)


def read_documents_at_once(target: Target) -> None:
    """Request `/docs/skill.md` over 200 connections, each time with another query."""
    numbers = count()
    target.repeat(lambda _: target.request("GET", f"/docs/skill.md?x{next(numbers)}"), at_once=_AT_ONCE, every=0)


def open_pages_at_once(target: Target) -> None:
    """Request 300 home pages at once, as many as an address may open in a minute, each with another query."""
    target.repeat(lambda number: target.request("GET", f"/?x{number}=1"), at_once=_PAGES_AT_ONCE, every=10_000)


def open_errors_at_once(target: Target) -> None:
    """Request unknown pages and the operators' log-in over 200 connections."""
    paths = ("/nope/{}", "/admin/login/?x{}")
    target.repeat(lambda number: target.request("GET", paths[number % 2].format(number)), at_once=_AT_ONCE, every=0)


def nest_json(target: Target) -> None:
    """Request launches with as many lists as a body may have, and a partner key."""
    body = b"[" + b"[]," * (_LISTS - 2) + b"[]]"
    target.repeat(lambda _: target.request_launch(body), at_once=4)


def name_unknown_arguments(target: Target) -> None:
    """Call a Model Context Protocol tool with 5,000 arguments that it lacks."""
    arguments = {f"x{number}": 1 for number in range(5_000)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_status", "arguments": arguments}}
    body = json.dumps(call, separators=(",", ":")).encode()
    head = ["Content-Type: application/json", "MCP-Protocol-Version: 2025-11-25"]
    target.repeat(lambda _: target.request("POST", "/mcp", headers=head, body=body), at_once=8)


def request_readiness(target: Target) -> None:
    """Request `/readyz`, which connects to the database, over 200 connections."""
    target.repeat(lambda _: target.request("GET", f"/readyz?x={secrets.token_hex(4)}"), at_once=_AT_ONCE, every=0)


def leave_stream_requests_unfinished(target: Target) -> None:
    """Hold 1,300 connections to the stream's port with unfinished headers; the stream listens one port higher."""
    connections.leave_headers_unfinished(target.at_port(target.port + 1))
