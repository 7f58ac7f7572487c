"""GET /api/openapi.json and the page that renders it."""

import re

import pytest
from django import urls
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema

from config.api.views import LimitedView
from config.parsing.json_rules import Component

ERROR = {"$ref": "#/components/schemas/Error"}
LIMITS = {"minLength", "maxLength", "minItems", "maxItems", "exclusiveMinimum"}
RATE_LIMIT = {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}


@pytest.fixture
def document():
    return Client().get("/api/openapi.json").json()


def operations(document):
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def test_the_service_describes_itself_without_warnings(tmp_path):
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "openapi.yaml"))


def test_two_components_of_one_name_are_refused():
    texts = {"maxLength": 5}, {"maxLength": 6}
    first, second = (Component("Duplicate", {"type": "string", **limits}) for limits in texts)

    class DuplicateView(LimitedView):
        @extend_schema(operation_id="duplicate", request=first, responses={200: second})
        def post(self, request):
            """Send and return a text."""

    with pytest.raises(ValueError, match="two components have the name Duplicate"):
        SchemaGenerator(patterns=[urls.path("api/duplicate", DuplicateView.as_view())]).get_schema(public=True)


def test_the_description_is_served_as_json_that_caches_may_keep():
    response = Client().get("/api/openapi.json", headers={"accept": "text/html"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response["Cache-Control"] == "public, s-maxage=300"
    assert response.json()["openapi"].startswith("3.1.")


def test_every_operation_of_the_service_documents_its_errors_and_its_limit(document):
    assert "error" in document["components"]["schemas"]["Error"]["required"]
    for operation in operations(document):
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] in "45"}
        for answer in errors.values():
            assert answer["content"]["application/json"]["schema"] == ERROR
        assert "429" in errors


def parts(value):
    """Yield each object in the description, examples left out."""
    if isinstance(value, dict):
        yield value
        for name, each in value.items():
            yield from parts(each) if name not in ("example", "examples") else ()
    elif isinstance(value, list):
        for each in value:
            yield from parts(each)


def test_responses_have_no_limits_of_bodies(document):
    components = document["components"]["schemas"]
    names = {name for each in operations(document) for name in references(each["responses"], components)}
    limited = {name for name in names for part in parts(components[name]) if LIMITS & set(part)}
    assert "ShownTokenSettings" in names and limited == {"Error"}


def references(value, components):
    """Return the component names that a description part has, nested ones included."""
    names = {part["$ref"].rpartition("/")[2] for part in parts(value) if "$ref" in part} & set(components)
    return names.union(*(references(components[name], components) for name in names))


def test_each_constant_has_a_type(document):
    constants = [part for part in parts(document) if "const" in part]
    assert len(constants) > 20 and [part for part in constants if "type" not in part] == []


def test_a_change_has_one_key_or_more(document):
    patches = [methods["patch"] for methods in document["paths"].values() if "patch" in methods]
    bodies = [each["requestBody"]["content"]["application/json"]["schema"]["$ref"] for each in patches]
    names = [body.removeprefix("#/components/schemas/") for body in bodies]
    assert names and {document["components"]["schemas"][name]["minProperties"] for name in names} == {1}


def test_each_operation_names_its_credentials_or_that_it_needs_none(document):
    webhooks = [methods["post"] for methods in document["webhooks"].values()]
    assert [each["operationId"] for each in [*operations(document), *webhooks] if "security" not in each] == []
    paths = document["paths"]
    assert paths["/api/tokens"]["get"]["security"] == []
    assert "x-required-scope" not in paths["/api/airdrops"]["get"]
    for path, scope in (("/api/airdrops", "deploy"), ("/api/tokens/index", "index")):
        assert paths[path]["post"]["security"] == [{"partnerKey": []}]
        assert paths[path]["post"]["x-required-scope"] == scope


def test_the_licence_and_a_contact_are_named(document, settings):
    assert document["info"]["license"] == {"name": "MIT", "identifier": "MIT"}
    assert document["info"]["contact"] == {"name": settings.SITE_NAME, "url": settings.SITE_URL}


def test_every_credential_is_described(document):
    schemes = document["components"]["securitySchemes"]
    found = {name: (scheme["type"], scheme.get("in"), scheme.get("name")) for name, scheme in schemes.items()}
    assert found == {
        "partnerKey": ("apiKey", "header", "x-api-key"),
        "userToken": ("http", None, None),
        "adminSession": ("apiKey", "cookie", "admin_session"),
    }
    assert (schemes["userToken"]["scheme"], schemes["userToken"]["bearerFormat"]) == ("bearer", "JWT")


def test_every_operation_of_the_service_has_a_summary_and_one_tag(document):
    tags = {tag["name"] for tag in document["tags"]}
    assert tags == {"tokens", "feeds", "fees", "deploy", "transactions", "users", "leaderboard", "events", "operations"}
    for operation in operations(document):
        assert operation["summary"] and not operation["summary"].endswith(".")
        assert len(operation["tags"]) == 1 and set(operation["tags"]) < tags


@pytest.mark.parametrize(
    ("address", "method", "statuses"),
    [
        ("/api/tokens", "get", ["200", "304", "400", "429", "503"]),
        ("/api/tokens/trending", "get", ["200", "304", "400", "429", "502", "503"]),
        ("/api/tokens/index", "post", ["200", "400", "401", "403", "408", "413", "415", "429", "503"]),
        ("/api/get-lp-info/{address}", "get", ["200", "304", "400", "401", "403", "404", "429", "503"]),
    ],
)
def test_an_operation_has_the_statuses_of_its_kind_and_their_headers(document, address, method, statuses):
    responses = document["paths"][address][method]["responses"]
    assert list(responses) == statuses
    own = {"X-Total-Approximate", "X-Last-Event-Id", "Warning"}
    for status, answer in responses.items():
        headers = RATE_LIMIT | {"X-Request-ID"}
        headers |= {"Retry-After"} if status in ("429", "502", "503") else set()
        headers |= {"X-Ignored-Params"} if status not in ("401", "403", "429") else set()
        headers |= {"WWW-Authenticate"} if status == "401" else set()
        headers |= {"ETag"} if "304" in statuses and status in ("200", "304") else set()
        assert set(answer["headers"]) - own == headers
        for name in headers:
            assert answer["headers"][name] == {"$ref": f"#/components/headers/{name}"}


def test_the_page_loads_everything_from_this_host():
    client = Client()
    page = client.get("/api/docs")
    assert page["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page["Content-Security-Policy"]
    references = re.findall(r'<(?:script|link rel="(?:stylesheet|icon)")[^>]* (?:src|href)="([^"]+)"', page.text)
    references += re.findall(r'<script src="([^"]+)"', page.text)
    assert len(references) >= 5
    for reference in references:
        assert re.match(r"/(static|api|assets)/", reference), reference
        answer = client.get(reference.replace("&amp;", "&"))
        assert answer.status_code == 200, reference


def test_the_page_is_in_the_frame_of_the_site():
    page = Client().get("/api/docs").text
    assert '<html lang="en">' in page and '<header class="top">' in page and '<main id="content"' in page
    assert page.index("<footer>") > page.index('id="swagger-ui"')
    instead = page[page.index("<noscript><p>") : page.index("</p></noscript>")]
    assert 'href="/docs/api.md"' in instead and 'href="/api/openapi.json"' in instead


def test_the_page_and_its_script_name_no_other_host():
    client = Client()
    for address in ("/api/docs", "/api/docs?script="):
        text = client.get(address).content.decode()
        assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", text) == []


def test_the_script_has_no_token_of_a_form():
    client = Client()
    client.cookies.load({"csrftoken": "a" * 32})
    assert 'request.headers["X-CSRFTOKEN"] = ""' in client.get("/api/docs?script=").content.decode()


def test_the_page_sends_the_description_to_no_validator():
    assert '"validatorUrl": null' in Client().get("/api/docs?script=").content.decode()


@pytest.mark.parametrize("method", ["post", "put", "delete", "options"])
def test_the_page_answers_other_methods_with_the_error_body(method):
    response = getattr(Client(), method)("/api/docs")
    assert (response.status_code, response["Content-Type"]) == (405, "application/json")
    assert "error" in response.json()
