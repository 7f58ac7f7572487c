"""Responses from all public routes: none sets a cookie. And the description, which concurrent first calls share."""

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, get_resolver

from config.edge.representation import public_without_cookies
from tests.processes.forking.program import run_program
from tests.rows.factories import TokenFactory


def public_paths():
    """Return the paths for all routes outside the admin site, with sample arguments."""
    samples = {"<int:chain_id>": "8453", "<str:address>": "0x" + "1" * 40}
    found = ["/", "/healthz", "/readyz", "/metrics", "/static/unfold/css/styles.css"]

    def walk(patterns, prefix):
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                if "^" not in route:
                    for name, sample in samples.items():
                        route = route.replace(name, sample)
                    found.append("/" + route)
            elif not route.startswith("admin/"):
                walk(pattern.url_patterns, route)

    walk(get_resolver().url_patterns, "")
    return sorted(set(found))


@pytest.mark.django_db
def test_no_public_answer_sets_a_cookie():
    token = TokenFactory()
    paths = [*public_paths(), f"/tokens/{token.chain_id}/{token.contract_address}", "/api/docs?script=", "/nothing"]
    assert len(paths) > 30
    # Also for a browser with a session and a token in an earlier form.
    for cookies in ({}, {"csrftoken": "a" * 32, "sessionid": "b" * 32}):
        client = Client(enforce_csrf_checks=True)
        client.cookies.load(cookies)
        answers = {path: client.get(path) for path in paths}
        assert {path for path, answer in answers.items() if answer.cookies} == set()
        assert answers["/api/docs"].status_code == answers["/api/docs?script="].status_code == 200


@pytest.mark.parametrize(("header", "kept"), [("public, s-maxage=5", False), ("Public", False), ("no-store", True)])
def test_one_rule_drops_cookies(header, kept):
    def view(request):
        answer = HttpResponse(headers={"Cache-Control": header})
        answer.set_cookie("session", "secret")
        return answer

    assert ("session" in public_without_cookies(view)(RequestFactory().get("/")).cookies) == kept


def test_concurrent_first_calls_of_the_description_all_succeed(service_environment):
    code = """
import django, threading
django.setup()
from concurrent.futures import ThreadPoolExecutor
from config.api.openapi_views import openapi_document
meeting = threading.Barrier(8)
def call(_):
    meeting.wait()
    return openapi_document()
with ThreadPoolExecutor(8) as pool:
    print(len({id(document) for document in pool.map(call, range(8))}))
"""
    done = run_program(["python", "-c", code], service_environment)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
