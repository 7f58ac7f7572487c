"""config/edge/cache.py: requests that it passes on, responses that it caches, and those that clients get."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from config.edge.cache import cache_public_responses
from config.edge.cached_responses import MAX_ENTRY_BYTES
from config.processes.concurrency_limits import SLOTS
from tests.processes.edge_clients import Origin, edge_cache, fetch
from tests.processes.waiting import wait_for


@pytest.fixture
def origin():
    return Origin()


@pytest.fixture
def cache(origin):
    return edge_cache(origin)


CALLERS = [
    {"HTTP_X_API_KEY": "lb_live_x"},
    {"HTTP_COOKIE": "sessionid=x"},
    {"HTTP_AUTHORIZATION": "Bearer x"},
    {"HTTP_X_API_KEY": ""},
]


@pytest.mark.parametrize("caller", CALLERS)
def test_authenticated_requests_get_no_cached_answer(cache, origin, caller):
    assert fetch(cache).body == b"run 1"
    assert fetch(cache, **caller).body == b"run 2"
    assert "age" not in fetch(cache, **caller).headers
    assert origin.environs[-1].items() >= caller.items()


@pytest.mark.parametrize("caller", CALLERS)
def test_an_answer_to_an_authenticated_request_is_not_cached(cache, caller):
    assert fetch(cache, **caller).body == b"run 1"
    assert fetch(cache).body == b"run 2"


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": None},
        {"Cache-Control": "no-store"},
        {"Cache-Control": "public"},
        {"Cache-Control": "public, max-age=60"},
        {"Cache-Control": "s-maxage=60"},
        {"Cache-Control": "public, s-maxage=0"},
        {"Cache-Control": "public, s-maxage=-1"},
        {"Cache-Control": "public, s-maxage=x"},
        {"Cache-Control": "public, s-maxage=\u0663"},
        {"Cache-Control": "public, s-maxage=60, s-maxage=1"},
        {"Cache-Control": "private, s-maxage=60"},
        {"Cache-Control": "public, private, s-maxage=60"},
        {"Cache-Control": "public, s-maxage=60, no-store"},
        {"Cache-Control": 'public, s-maxage=60, no-cache="set-cookie"'},
        {"Set-Cookie": "a=b"},
        {"Vary": "Cookie, Authorization"},
        {"Vary": "Accept-Encoding, Accept-Language"},
        {"Vary": "Accept-Encoding, origin"},
        {"Vary": "*"},
        {"Content-Length": None},
        {"Content-Length": str(MAX_ENTRY_BYTES + 1)},
    ],
)
def test_it_keeps_nothing_that_the_answer_does_not_offer_to_all(cache, origin, headers):
    origin.headers = headers
    assert [fetch(cache).body for _ in range(3)] == [b"run 1", b"run 2", b"run 3"]


def test_what_depends_on_the_cookie_is_cached_for_requests_without_one(cache, origin):
    origin.headers = {"Vary": "Cookie, Accept-Encoding"}
    assert [fetch(cache).body for _ in range(2)] == [b"run 1", b"run 1"]
    origin.headers = {"Vary": "Cookie, Accept-Encoding", "Cache-Control": "private, no-store"}
    assert fetch(cache, HTTP_COOKIE="admin_session=x").body == b"run 2"
    assert fetch(cache).body == b"run 1"


@pytest.mark.parametrize("status", ["201 Created", "206 Partial Content", "301 Moved Permanently", "404 Not Found"])
def test_it_keeps_nothing_but_whole_answers(cache, origin, status):
    origin.status = status
    assert [fetch(cache).body for _ in range(2)] == [b"run 1", b"run 2"]
    assert fetch(cache).status == int(status[:3])


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_it_leaves_what_is_no_read_to_the_application(cache, method):
    assert fetch(cache).body == b"run 1"
    assert fetch(cache, method=method).body == b"run 2"


@pytest.mark.parametrize(
    ("address", "environ"),
    [
        ("/api/x", {"CONTENT_LENGTH": "2"}),
        ("/api/x", {"HTTP_TRANSFER_ENCODING": "chunked"}),
        ("/api/x", {"HTTP_HOST": ""}),
        ("/api/x?q=" + "a" * 2048, {}),
        ("/api/" + "a" * 2048, {}),
        ("/api/x", {"HTTP_HOST": "a" * 2048}),
        ("/healthz", {}),
        ("/admin/login/", {}),
        ("/static/admin/css/base.css", {}),
    ],
)
def test_it_leaves_other_requests_to_the_application(cache, address, environ):
    assert [fetch(cache, address, **environ).body for _ in range(2)] == [b"run 1", b"run 2"]


def test_the_cache_key_has_all_that_an_answer_depends_on(cache):
    different = [
        ("/api/x", {}),
        ("/api/x/", {}),
        ("/api/x?", {"HTTP_HOST": "other.example"}),
        ("/api/x", {"HTTP_HOST": "testserver:81"}),
        ("/api/x?limit=1", {}),
        ("/api/x?limit=1&sort=asc", {}),
        ("/api/x?sort=asc&limit=1", {}),
        ("/api/x", {"wsgi.url_scheme": "https"}),
        ("/api/x", {"HTTP_X_FORWARDED_PROTO": "https"}),
        ("/api/x", {"HTTP_X_FORWARDED_PROTO": "http"}),
        ("/api/x", {"HTTP_ACCEPT_ENCODING": "gzip"}),
    ]
    first = [fetch(cache, address, **environ).body for address, environ in different]
    assert len(set(first)) == len(different)
    assert [fetch(cache, address, **environ).body for address, environ in different] == first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"HTTP_ACCEPT_ENCODING": "gzip"}, {"HTTP_ACCEPT_ENCODING": "br;q=1.0, gzip;q=0.8, *;q=0.1"}),
        ({"HTTP_ACCEPT_ENCODING": "br"}, {"HTTP_ACCEPT_ENCODING": "gzip;q=0"}),
        ({"HTTP_USER_AGENT": "a"}, {"HTTP_USER_AGENT": "b"}),
        ({"HTTP_ORIGIN": "https://a.example"}, {}),
        ({}, {"HTTP_ORIGIN": "https://b.example"}),
        ({"REMOTE_ADDR": "192.0.2.1"}, {"HTTP_X_FORWARDED_FOR": "192.0.2.2"}),
        ({"CONTENT_LENGTH": ""}, {"CONTENT_LENGTH": "0"}),
    ],
)
def test_one_answer_serves_all_requests_with_the_same_key(cache, one, other):
    assert (fetch(cache, **one).body, fetch(cache, **other).body) == (b"run 1", b"run 1")


def test_headers_of_one_client_are_not_cached(cache, origin):
    his = {
        "RateLimit-Limit": "120",
        "RateLimit-Remaining": "3",
        "RateLimit-Reset": "7",
        "X-RateLimit-Limit": "120",
        "Retry-After": "1",
        "Date": "Sat, 21 Nov 2026 12:00:00 GMT",
        "Age": "5",
    }
    shared = {"X-Total-Approximate": "1", "X-Ignored-Params": "page", "Link": "</api/tokens>", "Warning": "110"}
    origin.headers = his | shared
    first, second = fetch(cache).headers, fetch(cache).headers
    lower = {name.lower() for name in his}
    assert first.keys() >= lower | {name.lower() for name in shared}
    assert second.keys() & lower == {"age"}
    assert second == {name: value for name, value in first.items() if name not in lower} | {"age": "0"}


def test_the_age_is_in_whole_seconds(cache):
    assert "age" not in fetch(cache).headers
    assert fetch(cache).headers["age"] == "0"
    wait_for(lambda: fetch(cache).headers["age"] == "1")


@pytest.mark.parametrize(("offered", "seconds"), [("public, s-maxage=1", 60.0), ("public, s-maxage=60", 1.0)])
def test_an_answer_expires_by_its_header_or_the_setting(offered, seconds):
    cache = edge_cache(Origin(headers={"Cache-Control": offered}), seconds=seconds)
    assert (fetch(cache).body, fetch(cache).body) == (b"run 1", b"run 1")
    wait_for(lambda: fetch(cache).body == b"run 2")


def test_what_took_longer_than_it_may_be_kept_is_not_kept():
    lateness = threading.Event()
    origin = Origin(before=lambda number: lateness.wait(0.02) and None)
    cache = edge_cache(origin, seconds=0.01)
    assert [fetch(cache).body for _ in range(2)] == [b"run 1", b"run 2"]


@pytest.mark.parametrize("status", ["404 Not Found", "429 Too Many Requests", "503 Service Unavailable"])
def test_a_failure_does_not_keep_the_next_answer_from_being_kept(cache, origin, status):
    origin.status = status
    assert fetch(cache).body == b"run 1"
    origin.status = "200 OK"
    assert [fetch(cache).body for _ in range(2)] == [b"run 2", b"run 2"]


def test_the_longest_answer_is_kept(cache, origin):
    origin.headers = {"Content-Length": str(MAX_ENTRY_BYTES)}
    assert [fetch(cache).body for _ in range(2)] == [b"run 1", b"run 1"]


@pytest.mark.parametrize("condition", ['"e"', 'W/"e"', '"a", "e"', ' W/"a" ,W/"e"', "*"])
@pytest.mark.parametrize("etag", ['"e"', 'W/"e"'])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_matching_etag_gets_304(cache, origin, condition, etag, method):
    origin.headers = {"ETag": etag, "Content-Type": "text/plain", "Content-Encoding": "gzip", "RateLimit-Limit": "1"}
    expected = {"cache-control": "public, s-maxage=60", "vary": "Accept-Encoding", "etag": etag}
    for additional in ({"ratelimit-limit": "1"}, {"age": "0"}):
        answer = fetch(cache, method=method, HTTP_IF_NONE_MATCH=condition)
        assert (answer.status, answer.body, answer.headers) == (304, b"", expected | additional)
    assert (fetch(cache).status, fetch(cache).body, origin.runs) == (200, b"run 1", 1)


@pytest.mark.parametrize("condition", ['"f"', 'W/"f"', "e", "", '"e'])
def test_another_etag_gets_the_whole(cache, condition):
    for _ in range(2):
        assert fetch(cache, HTTP_IF_NONE_MATCH=condition).body == b"run 1"


def test_a_condition_holds_for_answers_that_are_not_kept(cache, origin):
    origin.headers = {"Cache-Control": "public"}
    assert [fetch(cache, HTTP_IF_NONE_MATCH='"e"').status, fetch(cache, HTTP_IF_NONE_MATCH='"f"').status] == [304, 200]
    assert origin.bodies[0].closed
    origin.headers = {"ETag": None}
    assert fetch(cache, "/api/y", HTTP_IF_NONE_MATCH='"e"').status == 200


def test_a_condition_holds_for_nothing_but_200(cache, origin):
    origin.status = "404 Not Found"
    assert fetch(cache, HTTP_IF_NONE_MATCH="*").status == 404


def test_the_application_makes_the_whole_answer_whatever_the_conditions(cache, origin):
    conditions = {
        "HTTP_IF_NONE_MATCH": '"e"',
        "HTTP_IF_MODIFIED_SINCE": "x",
        "HTTP_RANGE": "bytes=0-1",
        "HTTP_IF_RANGE": "e",
    }
    assert fetch(cache, method="HEAD", **conditions).status == 304
    assert not conditions.keys() & origin.environs[0].keys()
    assert origin.environs[0]["REQUEST_METHOD"] == "GET"


def test_head_has_the_headers_of_get_and_no_body(cache):
    head, get = fetch(cache, method="HEAD"), fetch(cache)
    assert (head.body, get.body) == (b"", b"run 1")
    assert head.headers | {"age": "0"} == get.headers
    assert fetch(cache, method="HEAD").headers == get.headers


def test_head_of_what_is_not_kept_has_no_body_either(cache, origin):
    origin.headers = {"Content-Length": None}
    assert fetch(cache, method="HEAD").body == b""
    assert (origin.bodies[0].read, origin.bodies[0].closed) == (0, True)


def test_a_body_that_is_kept_is_closed(cache, origin):
    fetch(cache)
    assert origin.bodies[0].closed


def test_a_stream_goes_through_unread(cache, origin):
    origin.headers = {"Content-Length": None}
    for _ in range(2):
        chunks = fetch(cache).chunks
        assert chunks is origin.bodies[-1]
        assert (chunks.read, chunks.closed) == (0, False)


def test_the_least_recently_used_goes_first(origin):
    origin.headers = {"X": "x" * 10_000}
    cache = edge_cache(origin, max_bytes=3 * 18_000)
    bodies = {name: fetch(cache, f"/api/{name}").body for name in "abc"}
    assert fetch(cache, "/api/a").body == bodies["a"]
    fetch(cache, "/api/d")
    assert [fetch(cache, f"/api/{name}").body == bodies[name] for name in "ac"] == [True, True]
    assert fetch(cache, "/api/b").body != bodies["b"]


def test_what_is_larger_than_the_cache_drives_nothing_out(origin):
    cache = edge_cache(origin, max_bytes=10_000)
    kept = fetch(cache, "/api/a").body
    origin.headers = {"X": "x" * 10_000}
    assert fetch(cache, "/api/b").body != fetch(cache, "/api/b").body
    assert fetch(cache, "/api/a").body == kept


def together(count, call):
    """Make `count` calls at once and return their results."""
    with ThreadPoolExecutor(count) as pool:
        return [task.result(timeout=120) for task in [pool.submit(call) for _ in range(count)]]


def test_a_burst_costs_one_run(origin, cache):
    begun, gate = threading.Event(), threading.Event()
    origin.before = lambda number: begun.set() or gate.wait(120) and None
    with ThreadPoolExecutor(1 + SLOTS) as pool:
        tasks = [pool.submit(lambda: fetch(cache).body) for _ in range(16)]
        assert begun.wait(120)
        gate.set()
        assert {task.result(timeout=120) for task in tasks} == {b"run 1"}
    assert origin.runs == 1


def test_no_more_than_a_few_threads_wait_for_the_run_of_another(origin, cache):
    gate, runs_at_once = threading.Event(), threading.Semaphore(0)
    origin.before = lambda number: runs_at_once.release() or gate.wait(120) and None
    callers = 12
    with ThreadPoolExecutor(callers) as pool:
        tasks = [pool.submit(lambda: fetch(cache).status) for _ in range(callers)]
        # All others run the view, which limits them itself, while the first one hangs.
        for _ in range(callers - SLOTS):
            assert runs_at_once.acquire(timeout=120)
        gate.set()
        assert {task.result(timeout=120) for task in tasks} == {200}
    assert origin.runs == callers - SLOTS


@pytest.fixture
def frequent_thread_switches():
    """Set the shortest switch interval of threads, to provoke races."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_thread_switches")
def test_bursts_on_many_addresses_cost_one_run_each(origin, cache):
    addresses = [f"/api/{number}" for number in range(100)]
    with ThreadPoolExecutor(1 + SLOTS) as pool:
        statuses = pool.map(lambda address: fetch(cache, address).status, [a for a in addresses for _ in range(8)])
        assert set(statuses) == {200}
    assert origin.runs == len(addresses)


def test_a_burst_on_what_cannot_be_kept_is_answered_by_the_application(origin, cache):
    origin.headers = {"Cache-Control": "no-store"}
    assert len(set(together(8, lambda: fetch(cache).body))) == 8


def test_an_address_that_has_nothing_to_keep_is_run_by_all_at_the_same_time(origin, cache):
    origin.headers = {"Cache-Control": "no-store"}
    fetch(cache)
    meeting = threading.Barrier(8, timeout=120)
    origin.before = lambda number: meeting.wait() and None
    assert len(set(together(8, lambda: fetch(cache).body))) == 8


def test_after_the_wait_timeout_a_request_runs_the_view_itself(origin):
    begun, gate = threading.Event(), threading.Event()

    def hold_the_first(number):
        if number == 1:
            begun.set()
            assert gate.wait(120)

    origin.before = hold_the_first
    cache = edge_cache(origin, wait_timeout=0.05)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fetch, cache)
        assert begun.wait(120)
        assert fetch(cache).body == b"run 2"
        gate.set()
        assert first.result(timeout=120).body == b"run 1"


@pytest.mark.parametrize("failure", ["exception", "503 Service Unavailable", "429 Too Many Requests"])
def test_a_request_that_waits_for_a_failed_run_runs_the_view_itself_and_caches_the_answer(failure):
    begun, gate = threading.Event(), threading.Event()

    def fail_first(number):
        if number == 1:
            begun.set()
            assert gate.wait(120)
            if failure == "exception":
                raise OSError("the first fails")
            origin.status = failure
        else:
            origin.status = "200 OK"

    origin = Origin(before=fail_first)
    cache = edge_cache(origin)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: fetch(cache).status)
        assert begun.wait(120)
        second = pool.submit(lambda: fetch(cache).body)
        gate.set()
        assert second.result(timeout=120) == b"run 2"
        if failure == "exception":
            with pytest.raises(OSError, match="the first fails"):
                first.result(timeout=120)
        else:
            assert first.result(timeout=120) == int(failure[:3])
    assert fetch(cache).body == b"run 2"


def test_the_setting_turns_it_off(origin, settings):
    settings.EDGE_CACHE_SECONDS = 0
    uncached = cache_public_responses(origin)
    assert [fetch(uncached).body for _ in range(2)] == [b"run 1", b"run 2"]
    settings.EDGE_CACHE_SECONDS = 2.0
    cached = cache_public_responses(origin)
    assert [fetch(cached).body for _ in range(2)] == [b"run 3", b"run 3"]


def test_the_query_of_a_document_makes_no_request_of_its_own():
    origin = Origin()
    cache = edge_cache(origin, prefixes=("/docs", "/api/"))
    for path, runs in (("/docs/skill.md", 1), ("/docs.txt", 1), ("/docs", 3), ("/api/tokens", 3)):
        before = origin.runs
        for number in range(3):
            fetch(cache, f"{path}?x={number}")
        assert origin.runs == before + runs, path
    assert origin.environs[0]["QUERY_STRING"] == ""
