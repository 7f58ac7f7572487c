"""Attacks by single requests that cost more than their size: long headers, long lists, large airdrops, many names."""

import json
import re
import secrets

from benchmarks.attacks.target import ATTACKER, Target

_ENTRIES = 100_000
_LONG = 250_000


def send_long_content_types(target: Target) -> None:
    """Send `Content-Type` headers full of semicolons."""
    _send_headers(target, f"Content-Type: application/json{';' * _LONG}", method="POST")


def send_long_etags(target: Target) -> None:
    """Send `If-None-Match` headers with many tags, for a cached response."""
    _send_headers(target, "If-None-Match: " + '"a",' * (_LONG // 4))


def send_long_encodings(target: Target) -> None:
    """Send `Accept-Encoding` headers with many encodings."""
    _send_headers(target, "Accept-Encoding: " + "a;q=0.1," * (_LONG // 8))


def send_long_cookies(target: Target) -> None:
    """Send `Cookie` headers with many pairs."""
    _send_headers(target, "Cookie: " + 'a="\\073";' * (_LONG // 9))


def send_headers_of_30_kb(target: Target) -> None:
    """Send the four headers below the server's limit."""
    for_cookies, for_tags = 'a="\\073";' * 3_300, '"a",' * 7_500
    headers = [
        f"Content-Type: application/json{';' * 30_000}",
        f"If-None-Match: {for_tags}",
        "Accept-Encoding: " + "a;q=0.1," * 3_700,
        f"Cookie: {for_cookies}",
    ]
    target.repeat(lambda number: target.request("GET", "/api/tokens", headers=[headers[number % 4]]), at_once=8)


def send_long_hosts(target: Target) -> None:
    """Send `Host` headers that the server does not serve."""
    _send_headers(target, f"X-Forwarded-Host: {'a' * _LONG}")


def send_long_lists(target: Target) -> None:
    """Request launches with 500,000 invalid rewards in 1 MB, with a partner key."""
    body = b'{"rewards":[' + b"0," * 499_990 + b"0]}"
    target.repeat(lambda _: target.request_launch(body), at_once=4)


def rehearse_large_airdrops(target: Target) -> None:
    """Rehearse launches with 100,000 airdrop entries, with a partner key."""
    entries = [{"account": f"0x{number + 1:040x}", "amount": 100_000} for number in range(_ENTRIES)]
    body = {
        "chainId": 31337,
        "dryRun": True,
        "token": {"name": "Big", "symbol": "BIG", "tokenAdmin": f"0x{1:040x}", "requestKey": secrets.token_hex(16)},
        "airdrop": {"entries": entries, "lockupDuration": 1},
    }
    encoded = json.dumps(body, separators=(",", ":")).encode()
    target.repeat(lambda _: target.request_launch(encoded), at_once=8)


def guess_passwords(target: Target) -> None:
    """Try passwords for made-up names, at the operators' log-in and at the administrators' call."""
    page = target.request("GET", "/admin/login/").decode(errors="replace")
    cookie, token = re.search(r"csrftoken=(\w+)", page), re.search(r'csrfmiddlewaretoken" value="(\w+)"', page)

    def guess(number: int) -> bytes:
        name = f"name-{number}-{secrets.token_hex(4)}"
        if number % 2 or not cookie or not token:
            return target.post_json("/api/admin/verify", {"username": name, "password": "wrong"})
        form = f"csrfmiddlewaretoken={token[1]}&username={name}&password=wrong&next=/admin/"
        headers = [f"Cookie: csrftoken={cookie[1]}", "Content-Type: application/x-www-form-urlencoded"]
        return target.request("POST", "/admin/login/", headers=headers, body=form.encode())

    target.repeat(guess, at_once=12, every=0)


def vary_trending(target: Target) -> None:
    """Request trending pools with 80 odd parameters, each combination once."""
    target.repeat(
        lambda number: target.request("GET", f"/api/tokens/trending?page={number % 12}&order={number}&x{number}=1"),
        at_once=4,
    )


def share_one_slow_run(target: Target) -> None:
    """Send 12 requests at a time for one trending page; the runner stops the market provider meanwhile."""
    target.repeat(
        lambda number: target.request("GET", f"/api/tokens/trending?page={number // 12 % 10 + 1}&order=h1_trending"),
        at_once=12,
    )


def forge_proxy_headers(target: Target) -> None:
    """Claim another address in `X_Forwarded_For` for each call, so that no limit by address applies."""
    target.repeat(
        lambda number: target.request(
            "GET",
            f"/api/tokens?offset={number}",
            headers=[f"X_Forwarded_For: 10.0.{number // 250 % 250}.{number % 250}"],
        ),
        at_once=8,
        every=0.02,
    )


def _send_headers(target: Target, header: str, *, method: str = "GET") -> None:
    target.repeat(lambda _: target.request(method, "/api/tokens", headers=[header], source=ATTACKER), at_once=8)
