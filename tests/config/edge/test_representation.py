"""Representation of responses: ETag, 304 and gzip."""

import gzip

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.views import LimitedView
from config.edge.representation import accepts_gzip
from config.web.routing import endpoint
from tests.rows.factories import TokenFactory

LONG = "launch " * 100


class Text(APIView):
    """View that returns a text of the requested length, with the requested headers."""

    def get(self, request):
        headers = {name: value for name, value in request.query_params.items() if name not in ("length", "status")}
        status = int(request.query_params.get("status", 200))
        return Response("a" * int(request.query_params.get("length", 1000)), headers=headers, status=status)

    def post(self, request):
        return Response(LONG, headers={"Cache-Control": "public", **request.query_params.dict()})


class CompleteVary(LimitedView):
    """View that sets a complete Vary header."""

    vary = "Cookie"

    def get(self, request):
        return Response("a" * 1000, headers={"Vary": "Accept-Language"})


def stream(request):
    return StreamingHttpResponse([LONG, LONG])


def page(request):
    answer = HttpResponse(LONG, headers=request.GET.dict())
    answer.set_cookie("seen", "yes")
    return answer


def page_without_body_for_head(request):
    return HttpResponse(b"" if request.method == "HEAD" else LONG, headers={"Cache-Control": "public"})


urlpatterns = [
    endpoint("api/text", Text.as_view()),
    endpoint("api/sworn", CompleteVary.as_view()),
    path("api/stream", stream),
    path("page", page),
    path("bodiless", page_without_body_for_head),
]

own_addresses = pytest.mark.urls(__name__)
GZIP = {"accept-encoding": "gzip"}


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("", False),
        ("*;q=0", False),
        ("gzip;q=0, *", False),
        ("*, gzip;q=0", False),
        ("*, GZIP;Q=0.0", False),
        ("identity, *;q=0", False),
        ("identity", False),
        ("br, deflate", False),
        ("gzipped", False),
        ("gzip;q=0", False),
        ("br, gzip; q=0.000", False),
        ("gzip;q=x", False),
        ("gzip", True),
        (" br , gzip ", True),
        ("deflate, gzip;q=0.1, *;q=0", True),
        ("gzip; Q=1.0", True),
        ("GZip", True),
        ("*", True),
        ("br, *;q=0.1", True),
        ("*;q=0, gzip", True),
    ],
)
def test_gzip_is_for_clients_that_accept_it(header, accepted):
    assert accepts_gzip(header) == accepted


@own_addresses
@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "*, gzip;q=0"])
def test_it_compresses_nothing_without_a_request_for_it(accepted):
    answer = Client().get("/api/text", headers={"accept-encoding": accepted})
    assert "Content-Encoding" not in answer
    assert answer.content == b'"' + b"a" * 1000 + b'"'
    # A cache has to distinguish them all the same.
    assert "Accept-Encoding" in answer["Vary"]


@own_addresses
@pytest.mark.parametrize("accepted", ["gzip", "GZIP", "*", "br;q=1, *;q=0.5"])
@pytest.mark.parametrize("address", ["/api/text", "/page?Cache-Control=public"])
def test_it_compresses_on_request(address, accepted):
    plain, packed = Client().get(address), Client().get(address, headers={"accept-encoding": accepted})
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert int(packed["Content-Length"]) == len(packed.content) < len(plain.content)
    assert "Accept-Encoding" in packed["Vary"]
    assert packed["ETag"] == f"W/{plain['ETag']}"


@own_addresses
def test_it_leaves_short_answers_as_they_are():
    for headers in (GZIP, {}):
        answer = Client().get("/api/text?length=100", headers=headers)
        assert ("Content-Encoding" in answer, len(answer.content)) == (False, 102)
        assert "Vary" not in answer


@own_addresses
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
def test_a_view_with_a_complete_vary_header_is_never_compressed(method):
    for headers in (GZIP, {}):
        answer = Client().generic(method, "/api/sworn", headers=headers)
        assert "Content-Encoding" not in answer
        assert answer["Vary"] == "Cookie" if method != "PUT" else "Cookie" in answer["Vary"]


@own_addresses
def test_it_leaves_streams_as_they_are():
    answer = Client().get("/api/stream", headers=GZIP)
    assert list(answer) == [LONG.encode()] * 2
    assert "Content-Encoding" not in answer and "ETag" not in answer


@own_addresses
@pytest.mark.parametrize("address", ["/page", "/page?Cache-Control=private", "/page?Cache-Control=no-store"])
def test_pages_that_are_not_public_stay_as_they_are(address):
    answer = Client().get(address, headers=GZIP)
    assert "Content-Encoding" not in answer and "ETag" not in answer


@pytest.mark.django_db
def test_the_admin_site_has_neither_compression_nor_etags():
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    for address in ("/admin/", "/admin/tokens/token/", "/admin/password_change/", "/admin/jsi18n/"):
        answer = client.get(address, headers=GZIP | {"if-none-match": "*"})
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer and "ETag" not in answer
    assert Client().get("/admin/login/", headers=GZIP | {"if-none-match": "*"}).status_code == 200


@own_addresses
@pytest.mark.parametrize("kept", ["no-store", "private, no-store"])
def test_what_may_not_be_stored_has_no_etag(kept):
    answer = Client().get(f"/api/text?Cache-Control={kept}", headers={"if-none-match": "*"})
    assert (answer.status_code, "ETag" in answer) == (200, False)


@own_addresses
@pytest.mark.parametrize("headers", [{}, GZIP])
@pytest.mark.parametrize("method", ["get", "head"])
def test_a_matching_etag_of_a_body_gets_304(method, headers):
    address = "/api/text?Cache-Control=public, s-maxage=2&RateLimit-Remaining=3&X-Ignored-Params=page"
    send = getattr(Client(), method)
    whole = send(address, headers=headers)
    bare = whole["ETag"].removeprefix("W/")
    for known in (bare, f"W/{bare}", f'"other", {bare}', "*"):
        answer = send(address, headers=headers | {"if-none-match": known})
        assert (answer.status_code, answer.content) == (304, b"")
        described = {"Content-Type", "Content-Length", "Content-Encoding"}
        assert dict(answer.items()) == {name: value for name, value in whole.items() if name not in described}
    assert send(address, headers=headers | {"if-none-match": '"other"'}).status_code == 200


@own_addresses
def test_another_body_has_another_etag():
    one, other = Client().get("/api/text"), Client().get("/api/text?length=999")
    assert one["ETag"] != other["ETag"]
    assert Client().get("/api/text?length=999", headers={"if-none-match": one["ETag"]}).status_code == 200


@own_addresses
def test_writes_have_no_condition():
    answer = Client().post("/api/text", {}, content_type="application/json", headers={"if-none-match": "*"} | GZIP)
    assert (answer.status_code, "ETag" in answer) == (200, False)
    answer = Client().post('/api/text?ETag="mine"', {}, "application/json", headers={"if-none-match": '"mine"'})
    assert answer.status_code == 200


@own_addresses
def test_what_is_no_200_has_no_condition():
    assert "ETag" not in Client().get("/api/text?status=404")
    answer = Client().get('/api/text?status=404&ETag="mine"', headers={"if-none-match": '"mine"'})
    assert answer.status_code == 404


@own_addresses
def test_head_without_a_body_to_make_an_etag_of_has_none():
    assert "ETag" in Client().get("/bodiless")
    assert "ETag" not in Client().head("/bodiless")


@own_addresses
def test_a_304_still_sets_its_cookies():
    answer = Client().get('/page?Cache-Control=private&ETag="mine"', headers={"if-none-match": "*"})
    assert (answer.status_code, answer.cookies["seen"].value) == (304, "yes")


@own_addresses
def test_an_etag_that_the_view_has_set_stays():
    assert Client().get('/api/text?ETag="mine"')["ETag"] == '"mine"'
    assert Client().get('/api/text?ETag="mine"', headers={"if-none-match": '"mine"'}).status_code == 304


@pytest.mark.django_db
def test_a_list_that_has_not_changed_is_not_sent_again():
    origin = {"origin": "https://elsewhere.example"}
    token = TokenFactory()
    first = Client().get("/api/tokens", headers=origin)
    condition = origin | {"if-none-match": first["ETag"]}
    second = Client().get("/api/tokens", headers=condition)
    assert second.status_code == 304
    for name in ("ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin"):
        assert second[name] == first[name]
    token.blocked = True
    token.save()
    assert Client().get("/api/tokens", headers=condition).status_code == 200


@pytest.mark.django_db
def test_errors_have_no_etag():
    answer = Client().get("/api/tokens?limit=21", headers={"if-none-match": "*"})
    assert (answer.status_code, "ETag" in answer) == (400, False)
