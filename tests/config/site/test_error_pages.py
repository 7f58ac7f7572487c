"""Page errors outside their views: each is a short page that states what is wrong; the API's are JSON."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.urls import path

from config import urls
from tests.html_pages import Page

pytestmark = pytest.mark.django_db

ERRORS = {"bad": BadRequest, "denied": PermissionDenied, "large": RequestDataTooBig, "broken": ZeroDivisionError}


def fail(request: HttpRequest, name: str) -> HttpResponse:
    """Raise the error with this name."""
    raise ERRORS[name]("secret")


urlpatterns = [path("fails/<str:name>", fail), path("api/fails/<str:name>", fail), *urls.urlpatterns]
handler400 = "config.api.error_handling.bad_request"
handler403 = "config.api.error_handling.forbidden"
handler404 = "config.api.error_handling.page_not_found"
handler500 = "config.api.error_handling.server_error"


@pytest.mark.parametrize("page", ["/", "/leaderboard", "/status", "/docs", "/creators/1", "/robots.txt"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("is_csrf_checked", [True, False])
def test_a_refused_method_is_a_page_and_one_log_line(client, page, method, is_csrf_checked, caplog):
    client.handler.enforce_csrf_checks = is_csrf_checked
    answer = client.generic(method, page)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Content-Security-Policy"]
    assert "Method not allowed" in Page(answer.text).texts
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert len(caplog.records) == 1


def test_a_log_in_without_a_cookie_is_a_page_that_says_so(client):
    client.handler.enforce_csrf_checks = True
    answer = client.post("/admin/login/", {"username": "operator", "password": "secret"})
    assert answer.status_code == 403 and answer.headers["Cache-Control"] == "no-store"
    words = " ".join(Page(answer.text).texts)
    assert "Access denied" in words and "Allow cookies" in words and "secret" not in words


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("name", "status", "title"),
    [
        ("bad", 400, "Invalid request"),
        ("denied", 403, "Access denied"),
        ("large", 413, "Request too large"),
        ("broken", 500, "Server error"),
        ("", 404, "Not found"),
    ],
)
def test_an_error_outside_of_views_is_a_page_and_json_in_the_api(client, name, status, title):
    client.raise_request_exception = False
    answer = client.get(f"/fails/{name}")
    assert answer.status_code == status and title in Page(answer.text).texts
    assert "secret" not in answer.text
    answer = client.get(f"/api/fails/{name}")
    assert (answer.status_code, answer.json().keys()) == (status, {"error"})


def test_an_unknown_host_is_a_page(client):
    answer = client.get("/", headers={"host": "other.example"})
    assert answer.status_code == 400 and "Invalid request" in Page(answer.text).texts


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        *("//evil.example/..", "//evil.example/", "///evil.example", "/\\evil.example", "/\t/evil.example", "/\n//x"),
        *(
            "/de//evil.example/..",
            "/de/\\evil.example",
            "/de/\t/evil.example",
            "/de//evil.example/de/",
            "//de//x",
            "//",
        ),
        *("/admin//evil.example", "//evil.example/admin", "/embed/tokens/1///evil.example", "/creators//evil.example"),
        *("/@evil.example", "/https://evil.example", "/%2F/evil.example", "*", "//", "http://evil.example/"),
    ],
)
def test_no_page_leads_to_another_host_whatever_its_path(client, settings, path, method):
    settings.SITE_LANGUAGES = ("en", "de", "zh-hans")
    answer = client.generic(method, "/", PATH_INFO=path)
    assert answer.status_code in (200, 301, 302, 404, 405)
    addresses = [answer.headers.get("Location", "/"), *Page(answer.text).addresses]
    assert "evil" not in path or answer.status_code in (301, 302) or any("evil" in address for address in addresses)
    assert {host_in_browser(address, settings.SITE_URL) for address in addresses} == {
        urlsplit(settings.SITE_URL).netloc
    }


def host_in_browser(address: str, base: str) -> str:
    """Return an address's host as browsers resolve it: without tabs and line ends, and `\\` counts as `/`."""
    plain = re.sub(r"[\t\r\n]", "", address).replace("\\", "/")
    # `///host` is `//host` for them.
    return urlsplit(urljoin(base, re.sub(r"^//+", "//", plain))).netloc
