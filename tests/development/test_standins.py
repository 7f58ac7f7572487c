"""development/standins/http_server.py: control of every stand-in, in the process and over HTTP."""

import http.client
import json
from collections.abc import Iterator

import pytest
import requests

from development.standins.http_server import CONTROL_PATH, Mode, StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest


class Sample(StandIn):
    """Stand-in with one path and one value of each type."""

    ERRORS = {401: {"message": "Invalid API key"}, 404: {"message": "Not found"}}

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        body = {"text": "a", "number": 1, "fact": True, "nothing": None, "list": [{"deep": 1.5}], "empty": []}
        return StandInResponse(body) if received.path == "/sample" else None


@pytest.fixture
def sample() -> Iterator[Sample]:
    with Sample() as running:
        yield running


def get(sample: Sample, path: str = "/sample?a=1&b=") -> requests.Response:
    return requests.get(sample.url + path, headers={"X-Api-Key": "k"}, timeout=60)


def control(sample: Sample, content: str) -> requests.Response:
    return requests.post(sample.url + CONTROL_PATH, data=content, timeout=60)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "7",
        "{}",
        '{"mode": "unheard-of"}',
        '{"mode": []}',
        '{"mode": "fail", "times": "x"}',
        '{"mode": "stall", "seconds": null}',
    ],
)
def test_it_refuses_an_invalid_command_and_goes_on_as_before(sample, content):
    answer = control(sample, content)
    assert answer.status_code == 400
    assert "rate_limit" in answer.json()["error"]
    assert get(sample).status_code == 200


def test_it_refuses_what_the_service_does_not_have(sample):
    assert (get(sample, "/other").status_code, get(sample, "/other").json()) == (404, {"message": "Not found"})
    assert requests.post(sample.url + "/sample", json={}, timeout=60).status_code == 405


@pytest.mark.parametrize(
    ("mode", "status", "body"),
    [(Mode.FAIL, 500, {}), (Mode.RATE_LIMIT, 429, {}), (Mode.WRONG_KEY, 401, {"message": "Invalid API key"})],
)
def test_it_refuses_in_the_ways_of_a_service_out_of_order(sample, mode, status, body):
    sample.behave(mode, seconds=7)
    answer = get(sample)
    assert (answer.status_code, answer.json()) == (status, body)
    assert answer.headers.get("Retry-After") == ("7" if mode == Mode.RATE_LIMIT else None)


def test_it_answers_garbage(sample):
    sample.behave(Mode.NOT_JSON)
    assert "html" in get(sample).text
    sample.behave(Mode.CUT_SHORT)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        get(sample)
    sample.behave(Mode.HUGE)
    with requests.get(sample.url + "/sample", stream=True, timeout=60) as answer:
        assert int(answer.headers["Content-Length"]) > 2 * 10**8
        assert answer.raw.read(1000) == b" " * 1000


def test_it_answers_with_no_value_of_the_right_type(sample):
    sample.behave(Mode.WRONG_SHAPE)
    assert get(sample).json() == {
        "text": {"value": "a"},
        "number": [1],
        "fact": "maybe",
        "nothing": "maybe",
        "list": {"0": [{"deep": [1.5]}]},
        "empty": {},
    }


def test_it_stalls_until_its_time_or_its_own_end(sample):
    sample.behave(Mode.STALL, seconds=600)
    with pytest.raises(requests.Timeout):
        requests.get(sample.url + "/sample", timeout=0.1)
    sample.behave(Mode.STALL, seconds=0)
    assert get(sample).status_code == 200


@pytest.mark.parametrize("over_http", [False, True])
def test_it_misbehaves_as_often_as_set(sample, over_http):
    if over_http:
        answer = control(sample, '{"mode": "fail", "times": 2}')
        assert (answer.status_code, answer.json()) == (200, {"mode": "fail", "times": 2, "requests": 0})
    else:
        sample.behave(Mode.FAIL, times=2)
    assert [get(sample).status_code for _ in range(3)] == [500, 500, 200]
    assert get(sample, CONTROL_PATH).json() == {"mode": "ok", "times": None, "requests": 3}


def test_it_records_requests(sample):
    get(sample)
    received = sample.received[0]
    assert (received.method, received.path, received.query) == ("GET", "/sample", {"a": "1", "b": ""})
    assert received.headers["x-api-key"] == "k"


def test_a_test_changes_what_it_answers(sample):
    sample.change = lambda received, body: {**body, "text": received.query["a"]}
    assert get(sample).json()["text"] == "1"


def test_a_test_refuses_what_it_chooses(sample):
    sample.refuse = lambda received: 401 if "a" in received.query else None
    assert (get(sample).status_code, get(sample).json()) == (401, {"message": "Invalid API key"})
    assert get(sample, "/sample").status_code == 200


def test_it_keeps_connections_open(sample):
    connection = http.client.HTTPConnection(sample.url.removeprefix("http://"), timeout=60)
    for _ in range(2):
        connection.request("GET", "/sample")
        socket = connection.sock
        assert json.loads(connection.getresponse().read())["text"] == "a"
        assert connection.sock is socket
    connection.close()
