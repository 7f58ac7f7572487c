"""GET /api/openapi.json and the page that renders it."""

import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import include, path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.validation import validate_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.fields import FlagField, WeiField, WholeNumberField
from config.api.routing import endpoint
from config.api.views import QueryView
from tokens.catalogue.list_parameters import FidsField
from tokens.installation.chain_fields import AddressField, PoolAddressField

ERROR = {"$ref": "#/components/schemas/Error"}
RATE_LIMIT = {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}


class RecordSerializer(serializers.Serializer):
    contract_address = AddressField(allow_mint=True)
    pool_address = PoolAddressField()
    supply = WeiField()
    deployed_at = serializers.DateTimeField()


class SampleQuery(serializers.Serializer):
    limit = WholeNumberField(min_value=0, max_value=20, default=10)
    champagne = FlagField(default=False)
    fids = FidsField(required=False)


class Listing(QueryView):
    """View that lists records."""

    query_serializer = SampleQuery

    @extend_schema(responses={200: RecordSerializer(many=True), 404: None, 502: None})
    def get(self, request):
        return Response([])


class SampleBody(serializers.Serializer):
    txHash = serializers.CharField()


class SampleKey(BaseAuthentication):
    def authenticate(self, request):
        return None


class SampleKeyScheme(OpenApiAuthenticationExtension):
    target_class = SampleKey
    name = "sampleKey"

    def get_security_definition(self, auto_schema):
        return {"type": "apiKey", "in": "header", "name": "x-api-key"}


class Indexing(APIView):
    authentication_classes = [SampleKey]

    @extend_schema(request=SampleBody, responses=RecordSerializer)
    def post(self, request):
        return Response({})


class Item(APIView):
    @extend_schema(responses=RecordSerializer)
    def get(self, request, number):
        return Response({})


class Plain(APIView):
    @extend_schema(responses=RecordSerializer)
    def get(self, request):
        return Response({})


urlpatterns = [
    endpoint("api/tokens/listing", Listing.as_view()),
    endpoint("api/tokens/index", Indexing.as_view()),
    endpoint("api/items/<int:number>", Item.as_view()),
    endpoint("api/plain", Plain.as_view()),
    path("", include("config.urls")),
]


@pytest.fixture(scope="module")
def sample():
    """Return the description of only this module's addresses."""
    document = SchemaGenerator(patterns=urlpatterns[:-1]).get_schema(request=None, public=True)
    validate_schema(document)
    return document


def operations(document):
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def test_the_service_describes_itself_without_warnings(tmp_path):
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "openapi.yaml"))


def test_the_description_is_served_as_json_that_caches_may_keep():
    response = Client().get("/api/openapi.json", headers={"accept": "text/html"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response["Cache-Control"] == "public, s-maxage=300"
    assert response.json()["openapi"].startswith("3.1.")


def test_every_operation_of_the_service_documents_its_errors_and_its_limit():
    document = Client().get("/api/openapi.json").json()
    assert "error" in document["components"]["schemas"]["Error"]["required"]
    for operation in operations(document):
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] in "45"}
        for answer in errors.values():
            assert answer["content"]["application/json"]["schema"] == ERROR
        assert "429" in errors


def test_every_credential_is_described():
    schemes = Client().get("/api/openapi.json").json()["components"]["securitySchemes"]
    found = {name: (scheme["type"], scheme.get("in"), scheme.get("name")) for name, scheme in schemes.items()}
    assert found == {
        "partnerKey": ("apiKey", "header", "x-api-key"),
        "userToken": ("http", None, None),
        "adminSession": ("apiKey", "cookie", "admin_session"),
    }
    assert (schemes["userToken"]["scheme"], schemes["userToken"]["bearerFormat"]) == ("bearer", "JWT")


def test_every_operation_of_the_service_has_a_summary_and_one_tag():
    document = Client().get("/api/openapi.json").json()
    tags = {tag["name"] for tag in document["tags"]}
    assert tags == {"tokens", "fees", "deploy", "users", "leaderboard", "operations"}
    for operation in operations(document):
        assert operation["summary"] and not operation["summary"].endswith(".")
        assert len(operation["tags"]) == 1 and set(operation["tags"]) < tags


def test_parameters_come_from_the_serializer(sample):
    parameters = {entry["name"]: entry for entry in sample["paths"]["/api/tokens/listing"]["get"]["parameters"]}
    assert set(parameters) == {"limit", "champagne", "fids"}
    assert parameters["limit"]["schema"] == {"type": "integer", "minimum": 0, "maximum": 20, "default": 10}
    assert parameters["champagne"]["schema"]["type"] == "boolean"
    # One text, separated by commas.
    assert parameters["fids"]["schema"]["type"] == "array"
    assert (parameters["fids"]["style"], parameters["fids"]["explode"]) == ("form", False)


@pytest.mark.parametrize(
    ("address", "method", "statuses"),
    [
        ("/api/tokens/listing", "get", ["200", "400", "404", "429", "502", "503"]),
        ("/api/tokens/index", "post", ["200", "400", "401", "403", "413", "415"]),
        ("/api/items/{number}", "get", ["200", "400", "404"]),
        ("/api/plain", "get", ["200"]),
    ],
)
def test_an_operation_documents_the_errors_of_its_kind(sample, address, method, statuses):
    responses = sample["paths"][address][method]["responses"]
    assert list(responses) == statuses
    for status in statuses[1:]:
        assert responses[status]["content"]["application/json"]["schema"] == ERROR


def test_a_limited_operation_has_its_limit_in_all_answers_and_others_in_none(sample):
    for status, answer in sample["paths"]["/api/tokens/listing"]["get"]["responses"].items():
        more = {"Retry-After"} if status in ("429", "502", "503") else set()
        more |= {"X-Ignored-Params"} if status != "429" else set()
        assert set(answer["headers"]) == RATE_LIMIT | more
        for name, header in answer["headers"].items():
            assert header == {"$ref": f"#/components/headers/{name}"}
    assert not any("headers" in answer for answer in sample["paths"]["/api/plain"]["get"]["responses"].values())


def test_fields_are_described_by_what_they_show(sample):
    properties = sample["components"]["schemas"]["Record"]["properties"]
    assert properties["supply"]["type"] == "string"
    assert properties["supply"]["pattern"] == "^[0-9]+$"
    assert properties["contract_address"]["type"] == "string"
    assert properties["deployed_at"] == {"type": "string", "format": "date-time"}


def test_the_page_loads_everything_from_this_host():
    client = Client()
    page = client.get("/api/docs")
    assert page["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page["Content-Security-Policy"]
    references = re.findall(r'(?:src|href)="([^"]+)"', page.content.decode())
    assert len(references) >= 5
    for reference in references:
        assert re.match(r"/(static|api)/", reference), reference
        answer = client.get(reference.replace("&amp;", "&"))
        assert answer.status_code == 200, reference


def test_the_page_and_its_script_name_no_other_host():
    client = Client()
    for address in ("/api/docs", "/api/docs?script="):
        text = client.get(address).content.decode()
        assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", text) == []


def test_the_page_sends_the_description_to_no_validator():
    assert '"validatorUrl": null' in Client().get("/api/docs?script=").content.decode()


@pytest.mark.parametrize("method", ["post", "put", "delete", "options"])
def test_the_page_answers_other_methods_with_the_error_body(method):
    response = getattr(Client(), method)("/api/docs")
    assert (response.status_code, response["Content-Type"]) == (405, "application/json")
    assert "error" in response.json()
