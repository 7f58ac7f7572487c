"""Bounds for log lines, in the web server's processes and in Celery's."""

import json
import logging
import os
import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from config.environment.secret import Secret
from config.http.request_ids import request_scope
from config.watching.log_lines import (
    MAX_LINE,
    MAX_RECORD,
    BoundedFormatter,
    ExpectedFailureFilter,
    JsonFormatter,
    RequestIdFilter,
    make_formatter,
)
from tests.processes.forking.program import run_program

# A line with time, level, logger and the mark for cut text.
_LONGEST = MAX_LINE + 40


def line(message, *arguments, exc_info=None):
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, message, arguments, exc_info)
    return BoundedFormatter("%(levelname)s %(message)s").format(record)


def test_a_line_says_how_much_of_it_was_cut():
    assert line("short %s", "text") == "WARNING short text"
    assert line("x" * (MAX_LINE + 1)) == "WARNING " + "x" * (MAX_LINE - 8) + " [9 characters cut]"


def test_a_record_keeps_its_beginning_and_the_end_of_its_traceback():
    try:
        raise ValueError("y" * 1_000_000 + "\n" + "z\n" * 1_000_000 + "the end")
    except ValueError as error:
        text = line("failed", exc_info=(type(error), error, error.__traceback__))
    assert text.startswith("WARNING failed\nTraceback")
    assert text.endswith("\nthe end")
    assert len(text) < MAX_RECORD + 40
    assert re.search(r"\n\[[0-9]+ characters cut\]\n", text)


def json_entry(message, *arguments, exc_info=None, request_id=""):
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, message, arguments, exc_info)
    with request_scope(request_id):
        RequestIdFilter().filter(record)
    text = JsonFormatter().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_a_json_line_has_the_parts_of_a_text_line():
    entry = json_entry("short %s", "text", request_id="r-1")
    assert datetime.fromisoformat(entry.pop("time")).tzinfo is UTC
    assert entry == {"level": "WARNING", "logger": "x", "message": "short text", "request_id": "r-1"}
    assert "request_id" not in json_entry("no request")


@pytest.mark.parametrize("text", ['"} {"a": "', "line\nline", "\ud800 lone", "\x00\x1b[31m", "\u2028", "\u00e9"])
def test_a_json_line_is_one_line_whatever_the_text(text):
    assert json_entry("%s", text)["message"] == text.replace("\ud800", "\\ud800")


def test_an_exception_is_one_field_within_the_limits():
    try:
        raise ValueError("y" * 1_000_000 + "\n" + "z\n" * 1_000_000 + "the end")
    except ValueError as error:
        entry = json_entry("x" * 1_000_000, exc_info=(type(error), error, error.__traceback__))
    assert entry["message"].endswith(" characters cut]") and len(entry["message"]) < _LONGEST
    assert entry["exception"].startswith("Traceback") and entry["exception"].endswith("\nthe end")
    assert len(entry["exception"]) < MAX_RECORD + 40


def test_a_text_line_has_the_request_id_before_its_message():
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "text", (), None)
    with request_scope("r-1"):
        RequestIdFilter().filter(record)
    assert make_formatter("text").format(record).endswith(" WARNING x [r-1] text")
    with request_scope(""):
        RequestIdFilter().filter(record)
    assert make_formatter("text").format(record).endswith(" WARNING x text")


def test_secrets_are_masked_in_both_formats():
    secret = Secret("s3cret")
    assert "s3cret" not in json_entry("key %s, %r", secret, secret)["message"]
    assert "s3cret" not in line("key %s, %r", secret, secret)


@pytest.fixture
def logged():
    """Return the texts that the service's own handler would write."""
    texts = []
    handler = logging.Handler()
    handler.setFormatter(BoundedFormatter("%(levelname)s %(message)s"))
    handler.addFilter(ExpectedFailureFilter())
    handler.emit = lambda record: texts.append(handler.format(record))
    logging.getLogger().addHandler(handler)
    yield texts
    logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/tokens", {"host": "h" * 1_000_000}),
        ("/" + "p" * 1_000_000, {}),
        ("/api/tokens?" + "q" * 1_000_000, {"user-agent": "a" * 1_000_000}),
    ],
)
def test_a_refused_request_writes_no_more_than_a_bounded_record(logged, db, path, headers):
    Client().get(path, headers=headers)
    assert all(len(text) <= MAX_RECORD + 40 and max(map(len, text.split("\n"))) <= _LONGEST for text in logged)


def test_a_refused_host_is_one_warning(logged, db):
    assert Client().get("/api/tokens", headers={"host": "evil!"}).status_code == 400
    assert [text.split(" ", 1)[0] for text in logged if "evil" in text] == ["WARNING"]
    assert not [text for text in logged if "Traceback" in text]


@pytest.mark.parametrize("path", ["/", "/readyz"])
def test_a_request_in_an_outage_is_one_warning(logged, database_at, unused_port, path):
    database_at(unused_port)
    assert Client(raise_request_exception=False).get(path).status_code == 503
    reported = [text for text in logged if "Service Unavailable" in text]
    assert len(reported) == 1
    assert reported[0].startswith(f"WARNING Service Unavailable: {path}")
    assert not [text for text in logged if "Traceback" in text]


@pytest.mark.parametrize(
    "setup",
    [
        "import django; django.setup()",
        "from config.celery import app; app.loader.init_worker(); app.log.setup(loglevel='INFO')",
    ],
    ids=["django", "celery"],
)
@pytest.mark.parametrize("logger", ["anything", "celery.worker", "django.security.DisallowedHost"])
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_every_process_logs_bounded_lines(setup, logger, log_format):
    code = f"{setup}; import logging; logging.getLogger({logger!r}).error('x' * 1_000_000)"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "LOG_FORMAT": log_format}
    done = run_program(["python", "-c", code], environment)
    assert done.returncode == 0
    [written] = done.stderr.splitlines()
    level = "WARNING" if logger.startswith("django.security.") else "ERROR"
    if log_format == "json":
        entry = json.loads(written)
        assert (entry["level"], entry["logger"], entry["message"][:3]) == (level, logger, "xxx")
        written = entry["message"]
    else:
        assert f"{level} {logger} xxx" in written
    assert re.search(r" \[[0-9]+ characters cut\]$", written)
    assert len(written) <= _LONGEST
