"""Access matrix: every endpoint and method in the OpenAPI description, called with every credential kind.

A new endpoint needs an entry in ENDPOINTS, and its level defines the response to each credential.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, get_resolver, resolve
from django.utils import timezone

from accounts.administrators import sessions
from accounts.keys import credentials
from accounts.models import Administrator, AdminSession, PartnerKey, Scope
from config.api.openapi_schema import SCOPE
from config.api.openapi_views import openapi_document
from config.api.parsing import parse_json_body
from config.api.views import NoEndpointView
from config.environment.issuers import read_issuers
from tests.rows.factories import PersonFactory, PretokenFactory
from tests.rows.user_tokens import as_user, bearer
from tokens.transactions.actions import ACTIONS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unmet_limits")]

USER_FID, OTHER_FID, ADMINISTRATOR_FID = 5001, 5002, 5003
UNAUTHORIZED = (401, "Unauthorized")
LISTED, ELSEWHERE = "https://app.example", "https://elsewhere.example"

# Callers, named by their credential.
BAD_TOKENS = ("a bad token", "a token without its scheme", "a key as a token", "a bad token and a good cookie")
USERS = ("a user", "another user", "an administrator")
COOKIES = (
    "an administrator's cookie",
    "an expired cookie",
    "a revoked cookie",
    "a made-up cookie",
    "an operator's log-in",
)
BAD_KEYS = ("a bad key", "a revoked key")
GOOD_KEYS = ("a good key", "a good key and a bad token")
CALLERS = ("nobody", *BAD_KEYS, "a key without the scope", *GOOD_KEYS, *USERS, *BAD_TOKENS, *COOKIES)

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PARAMETER = re.compile("<(?:[a-z]+:)?([A-Za-z]+)>")

# The error's status and text; None if the endpoint admits the caller, and returns its own response.
Refusal = tuple[int, str] | None


@dataclass(frozen=True)
class Level:
    """Access level: the callers that are admitted, and the others' refusals."""

    # As in the OpenAPI description.
    security: list[dict[str, list[str]]]
    refusal: Callable[[str], Refusal]
    scope: Scope | None = None


PUBLIC = Level([], lambda caller: None)


def key_with(scope: Scope) -> Level:
    refusals: dict[str, Refusal] = dict.fromkeys(BAD_KEYS, UNAUTHORIZED) | dict.fromkeys(GOOD_KEYS)
    refusals["a key without the scope"] = (403, f"This key lacks the scope {scope}")
    return Level([{"partnerKey": []}], lambda caller: refusals.get(caller, (401, "API key is required")), scope)


def _bears_bad_token(caller: str) -> bool:
    return caller in BAD_TOKENS or caller == "a good key and a bad token"


USER = Level([{"userToken": []}], lambda caller: None if caller in USERS else UNAUTHORIZED)
OPTIONAL_USER = Level([{"userToken": []}, {}], lambda caller: UNAUTHORIZED if _bears_bad_token(caller) else None)
OPTIONAL_KEY = Level([{"partnerKey": []}, {}], lambda caller: UNAUTHORIZED if caller in BAD_KEYS else None)
MORE_FOR_ADMINISTRATORS = Level([{"userToken": []}, {"adminSession": []}, {}], OPTIONAL_USER.refusal)
# Without a token, a password is required.
BEGINS_SESSION = Level(
    [{"userToken": []}, {}],
    lambda caller: UNAUTHORIZED if _bears_bad_token(caller) or caller in ("a user", "another user") else None,
)
ENDS_SESSION = Level(
    [{"adminSession": []}], lambda caller: None if caller == "an administrator's cookie" else UNAUTHORIZED
)
READ, INDEX, DEPLOY, AGENTS, WEBHOOKS = map(
    key_with, (Scope.READ, Scope.INDEX, Scope.DEPLOY, Scope.AGENTS, Scope.WEBHOOKS)
)


@dataclass(frozen=True)
class Endpoint:
    """Test call to an endpoint: its path parts are nonsense, except a pretoken's id, which is the user's."""

    level: Level
    query: str = ""
    body: Any = None
    # The body's media type.
    form: str = "application/json"
    # Status for admitted callers: mostly the nonsense is refused.
    status: int = 400
    # Text of a 404 for admitted callers.
    missing: str = ""
    # Caller -> another status.
    otherwise: dict[str, Any] = field(default_factory=dict)
    # Whether two calls differ: by the second, or by chance.
    is_random: bool = False


NOT_FOUND = (404, "Pretoken not found")
NO_WEBHOOK = Endpoint(WEBHOOKS, status=404, missing="Webhook endpoint not found")
PREPARED = {f"POST /api/transactions/{name}": Endpoint(OPTIONAL_KEY, body={}) for name in ACTIONS}
ENDPOINTS = {
    **PREPARED,
    "GET /api/tokens": Endpoint(PUBLIC, "?limit=0", status=200),
    "GET /api/tokens/trending": Endpoint(PUBLIC, "?order=nonsense"),
    "GET /api/tokens/marketcap": Endpoint(PUBLIC, "?addresses=nonsense"),
    "GET /api/marketcap": Endpoint(PUBLIC, "?tokenAddress=nonsense"),
    "GET /api/metadata/factories": Endpoint(PUBLIC, status=200),
    "GET /api/metadata/contracts": Endpoint(PUBLIC, "?role=nonsense"),
    "GET /api/tokens/stream": Endpoint(PUBLIC, "?creator=nonsense"),
    "GET /api/tokens/fetch-deployed-by-fid": Endpoint(PUBLIC, "?fid=5", status=200),
    "GET /api/tokens/fetch-deployed-by-address": Endpoint(PUBLIC, "?address=nonsense"),
    "GET /api/tokens/fetch-by-pool-address": Endpoint(PUBLIC, "?poolAddress=nonsense"),
    "POST /api/tokens/fetch-by-pool-addresses": Endpoint(PUBLIC, body={"poolAddresses": []}, status=200),
    "GET /api/tokens/search": Endpoint(PUBLIC, "?fids=nonsense"),
    "GET /api/tokens/estimate-rewards-by-pool-address": Endpoint(PUBLIC, "?poolAddress=nonsense"),
    "GET /api/tokens/authenticated": Endpoint(READ, "?limit=0", status=200),
    "GET /api/get-token-by-address": Endpoint(READ, "?address=nonsense"),
    "GET /api/get-tokens-by-fid": Endpoint(READ, "?fid=nonsense"),
    "GET /api/tokens/fetch-by-admin": Endpoint(READ, "?admin=nonsense"),
    "GET /api/tokens/is-blocked": Endpoint(READ, "?address=nonsense"),
    "GET /api/get-lp-info/{address}": Endpoint(READ),
    "GET /api/get-claimed-fees/{tokenAddress}/{feeRecipient}": Endpoint(READ),
    "GET /api/get-claim-info": Endpoint(READ, "?address=nonsense"),
    "POST /api/tokens/index": Endpoint(INDEX, body={}),
    "POST /api/tokens/index-by-address": Endpoint(INDEX, body={}),
    "POST /api/tokens/deploy": Endpoint(DEPLOY, body={}),
    "POST /api/tokens/deploy/v4": Endpoint(DEPLOY, body={}),
    "GET /api/tokens/deploy/status/{requestKey}": Endpoint(DEPLOY, status=404, missing="Deployment not found"),
    "GET /api/get-uncollected-fees/{address}": Endpoint(READ),
    "GET /api/airdrops": Endpoint(PUBLIC, "?tokenAddress=nonsense"),
    "POST /api/airdrops": Endpoint(DEPLOY, body={}),
    "GET /api/airdrops/allocations": Endpoint(PUBLIC, "?tokenAddress=nonsense"),
    "GET /api/airdrops/saved": Endpoint(DEPLOY, status=200),
    "DELETE /api/airdrops/saved/{id}": Endpoint(DEPLOY, status=404, missing="Airdrop not found"),
    "GET /api/airdrops/claim": Endpoint(PUBLIC, "?tokenAddress=nonsense"),
    "POST /api/uploads/pictures": Endpoint(DEPLOY, body={}, form="image/png"),
    "POST /api/uploads/metadata": Endpoint(DEPLOY, body={}),
    "GET /api/creators/{creator}": Endpoint(PUBLIC),
    "GET /api/search-creator": Endpoint(PUBLIC, "?limit=nonsense"),
    "GET /api/status": Endpoint(PUBLIC, status=200),
    **{
        f"GET /api/feeds/{feed}/{{chainId}}/{name}": Endpoint(PUBLIC)
        for feed, names in (
            ("dexscreener", ("latest-block", "asset", "pair", "events")),
            ("dextools", ("latest-block", "block", "asset", "asset/holders", "exchange", "pair", "events")),
        )
        for name in names
    },
    "GET /api/feeds/udf/config": Endpoint(PUBLIC, status=200),
    "GET /api/feeds/udf/time": Endpoint(PUBLIC, status=200, is_random=True),
    "GET /api/feeds/udf/symbols": Endpoint(PUBLIC),
    "GET /api/feeds/udf/search": Endpoint(PUBLIC, "?limit=nonsense"),
    "GET /api/feeds/udf/history": Endpoint(PUBLIC),
    "GET /api/feeds/daily/{chainId}": Endpoint(PUBLIC),
    "GET /api/presales": Endpoint(PUBLIC, "?chainId=nonsense"),
    "GET /api/presales/allowlists": Endpoint(PUBLIC, "?presaleId=nonsense"),
    "POST /api/presales/allowlists": Endpoint(DEPLOY, body={}),
    "GET /api/presales/allowlists/proof": Endpoint(PUBLIC, "?presaleId=nonsense"),
    "GET /api/presales/allowlists/saved": Endpoint(DEPLOY, status=200),
    "DELETE /api/presales/allowlists/saved/{id}": Endpoint(DEPLOY, status=404, missing="Allow-list not found"),
    "GET /api/tokens/{chainId}/{address}": Endpoint(PUBLIC),
    "GET /api/tokens/{chainId}/{address}/trades": Endpoint(PUBLIC),
    "GET /api/tokens/{chainId}/{address}/candles": Endpoint(PUBLIC),
    "GET /api/get-user-by-fid": Endpoint(PUBLIC, "?fid=5", status=404, missing="User not found"),
    "GET /api/get-user-by-address": Endpoint(PUBLIC, "?address=nonsense"),
    "GET /api/get-user-by-name": Endpoint(PUBLIC, "?name=nonsense", status=404, missing="User not found"),
    "GET /api/get-multiple-users-by-fid": Endpoint(PUBLIC, "?fids=nonsense"),
    "GET /api/tokens/{chainId}/{address}/integrity": Endpoint(PUBLIC),
    "GET /api/droid/leaderboard": Endpoint(MORE_FOR_ADMINISTRATORS, status=200),
    "POST /api/droid/events": Endpoint(AGENTS, body={}),
    "GET /api/droid/standing": Endpoint(AGENTS, "?agentId=a", status=404, missing="Agent not found"),
    "GET /api/droid/standing/owned": Endpoint(USER, "?agentId=a", status=404, missing="Agent not found"),
    "GET /api/events": Endpoint(READ, "?limit=0"),
    "GET /api/webhooks": Endpoint(WEBHOOKS, status=200),
    "POST /api/webhooks": Endpoint(WEBHOOKS, body={}),
    "GET /api/webhooks/{id}": NO_WEBHOOK,
    "PATCH /api/webhooks/{id}": replace(NO_WEBHOOK, body={"enabled": False}),
    "DELETE /api/webhooks/{id}": NO_WEBHOOK,
    "POST /api/webhooks/{id}/test": NO_WEBHOOK,
    "POST /api/webhooks/{id}/rotate": NO_WEBHOOK,
    "GET /api/webhooks/{id}/deliveries": NO_WEBHOOK,
    "POST /api/webhooks/{id}/replay": replace(NO_WEBHOOK, body={"eventId": 1}),
    "POST /api/sign-in/nonce": Endpoint(PUBLIC, body={}, status=200, is_random=True),
    "POST /api/sign-in": Endpoint(PUBLIC, body={}),
    "POST /api/pretoken/v4": Endpoint(USER, body={}),
    "GET /api/pretoken/pending": Endpoint(USER, status=200),
    "DELETE /api/pretoken/{id}": Endpoint(
        USER, status=200, otherwise={"another user": NOT_FOUND, "an administrator": NOT_FOUND}
    ),
    "POST /api/tokens/save-deployed-token/from-ui": Endpoint(OPTIONAL_USER, body={}),
    "POST /api/admin/verify": Endpoint(BEGINS_SESSION, body={}, otherwise={"an administrator": (200, None)}),
    "DELETE /api/admin/verify": Endpoint(ENDS_SESSION, status=200),
}
# One for all, since each client constructs all middleware; callers' cookies are among their headers.
CLIENT = Client()
WRITES = [name for name in ENDPOINTS if not name.startswith("GET ")]
# Endpoints for which an administrator's cookie has an effect: it ends its session, or shows more.
OF_COOKIES = ["DELETE /api/admin/verify", "GET /api/droid/leaderboard"]


@pytest.fixture(autouse=True)
def origins(settings: Any, issuer: Any) -> None:
    settings.RATE_LIMIT_SIGN_IN = 0
    settings.IDENTITY_ISSUERS += read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    settings.CORS_ALLOWED_ORIGINS = (LISTED,)
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    settings.UPLOAD_STORAGE = "directory"


@pytest.fixture
def pretoken() -> str:
    """Create a pending pretoken for the user and return its id."""
    return str(PretokenFactory(owner=PersonFactory(fid=USER_FID)).pk)


def described() -> dict[str, dict[str, Any]]:
    """Return each described operation by method and path."""
    paths = parse_json_body(openapi_document())["paths"]
    return {f"{method.upper()} {path}": entry for path, entries in paths.items() for method, entry in entries.items()}


def call(name: str, headers: dict[str, str], *, pretoken: str = "nonsense", method: str = "", **options: Any) -> Any:
    """Call an endpoint, roll its effects back and return the response."""
    usual, _, path = name.partition(" ")
    address = re.sub(r"\{\w+\}", lambda part: pretoken if part[0] == "{id}" else "nonsense", path)
    if ENDPOINTS[name].body is not None:
        options = {"data": ENDPOINTS[name].body, "content_type": ENDPOINTS[name].form} | options
    CLIENT.cookies.clear()
    with transaction.atomic():
        send = getattr(CLIENT, (method or usual).lower())
        made = send(address + ENDPOINTS[name].query, headers=headers, **options)
        transaction.set_rollback(True)
    return made


def cookie(value: str, name: str = sessions.COOKIE) -> dict[str, str]:
    return {"Cookie": f"{name}={value}"}


def new_session(administrator: Administrator, **changes: Any) -> dict[str, str]:
    """Begin an administrator's session, change its row, and return its cookie."""
    begun = sessions.begin_session(administrator)
    AdminSession.objects.filter(pk=AdminSession.objects.latest("pk").pk).update(**changes or {"revoked_at": None})
    return cookie(begun.cookie)


def callers_cookies(administrator: Administrator) -> dict[str, dict[str, str]]:
    operator = Client()
    operator.force_login(User.objects.create_superuser("operator"))
    good = new_session(administrator)
    return {
        "an administrator's cookie": good,
        "an expired cookie": new_session(administrator, expires_at=timezone.now()),
        "a revoked cookie": new_session(administrator, revoked_at=timezone.now()),
        "a made-up cookie": {"Cookie": good["Cookie"][:-4] + "AAAA"},
        "an operator's log-in": cookie(operator.cookies["sessionid"].value, "sessionid"),
    }


def callers_keys(scope: Scope | None) -> dict[str, dict[str, str]]:
    """Return the key headers for callers to an endpoint that requires this scope, or none."""
    revoked = credentials.issue_key("Revoked", scopes=list(Scope))
    credentials.revoke_key(PartnerKey.objects.get())
    good = credentials.issue_key("Good", scopes=[scope or Scope.READ])
    return {
        "a bad key": {"x-api-key": good[:-1]},
        "a revoked key": {"x-api-key": revoked},
        "a key without the scope": {"x-api-key": credentials.issue_key("Other", scopes=sorted(set(Scope) - {scope}))},
        "a good key": {"x-api-key": good},
        "a good key and a bad token": {"x-api-key": good} | bearer("x"),
        "a key as a token": bearer(good),
    }


@pytest.fixture
def administrator(issuer: Any) -> Administrator:
    return Administrator.objects.create(name="Ada", issuer=issuer.url, subject=str(ADMINISTRATOR_FID))


@pytest.fixture
def callers(issuer: Any, administrator: Administrator) -> Callable[[Scope | None], dict[str, dict[str, str]]]:
    """Return a function from the scope that an endpoint requires, or None, to each caller's headers."""

    def headers(scope: Scope | None) -> dict[str, dict[str, str]]:
        cookies = callers_cookies(administrator)
        user = as_user(issuer, USER_FID)
        return {
            "nobody": {},
            "a user": user,
            "another user": as_user(issuer, OTHER_FID),
            "an administrator": as_user(issuer, ADMINISTRATOR_FID),
            "a bad token": bearer("x"),
            "a token without its scheme": {"Authorization": user["Authorization"].removeprefix("Bearer ")},
            "a bad token and a good cookie": bearer("x") | cookies["an administrator's cookie"],
            **callers_keys(scope),
            **cookies,
        }

    return headers


def routes(resolver: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each route below a resolver, as it is written, with its view's class."""
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield route, getattr(entry.callback, "cls", None)
        else:
            yield from routes(entry, route)


def _as_described(parameter: re.Match[str]) -> str:
    return "{" + parameter[1] + "}"


def test_the_matrix_has_every_endpoint_of_the_description():
    assert set(ENDPOINTS) == set(described())


def test_the_description_has_every_endpoint():
    served = {
        f"{method} /{_PARAMETER.sub(_as_described, route)}"
        for route, view in routes(get_resolver())
        if route.startswith("api/") and view and view is not NoEndpointView
        for method in METHODS
        if hasattr(view, method.lower())
    }
    assert served == {*ENDPOINTS, "GET /api/openapi.json", "GET /api/docs"}


def test_every_path_takes_a_trailing_slash():
    for path in {name.partition(" ")[2] for name in ENDPOINTS}:
        address = re.sub(r"\{\w+\}", "nonsense", path)
        assert resolve(f"{address}/").func is resolve(address).func
        assert resolve(address).func.cls is not NoEndpointView


def test_levels_agree_with_the_description():
    found = {name: (operation["security"], operation.get(SCOPE)) for name, operation in described().items()}
    assert found == {name: (endpoint.level.security, endpoint.level.scope) for name, endpoint in ENDPOINTS.items()}


def outcome(answer: Any) -> tuple[int, str | None]:
    """Return the status, and the text that refuses the caller or the record; its body has nothing else."""
    if answer.status_code not in (401, 403, 404):
        return answer.status_code, None
    body = answer.json()
    # Deployment errors have additional keys.
    assert body in ({"error": body["error"]}, {"success": False, "error": body["error"], "message": body["error"]})
    return answer.status_code, body["error"]


@pytest.mark.parametrize("name", ENDPOINTS)
def test_it_admits_the_callers_of_its_level_and_refuses_the_others(name, callers, pretoken):
    endpoint = ENDPOINTS[name]
    answers = {
        caller: call(name, headers, pretoken=pretoken) for caller, headers in callers(endpoint.level.scope).items()
    }
    assert set(answers) == set(CALLERS)
    passed = (endpoint.status, endpoint.missing or None)
    assert {caller: outcome(answer) for caller, answer in answers.items()} == {
        caller: endpoint.level.refusal(caller) or endpoint.otherwise.get(caller, passed) for caller in CALLERS
    }
    nobody = answers["nobody"]
    for answer in answers.values():
        if answer.status_code >= 400:
            assert answer.headers["Cache-Control"] == "no-store"
        challenge = "ApiKey " if endpoint.level.scope or endpoint.level is OPTIONAL_KEY else "Bearer "
        assert answer.headers.get("WWW-Authenticate", "").startswith(challenge) is (answer.status_code == 401)
        assert "Access-Control-Allow-Credentials" not in answer.headers
    if endpoint.level is PUBLIC and not endpoint.is_random:
        assert len({answer.content for answer in answers.values()}) == 1
    # A cookie is no credential.
    for caller in COOKIES[name in OF_COOKIES :]:
        assert answers[caller].status_code == nobody.status_code
        assert endpoint.is_random or answers[caller].content == nobody.content


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("name", [name for name in WRITES if name.startswith("POST ")])
def test_a_form_of_another_site_changes_nothing(name, administrator, kind):
    cookies = callers_cookies(administrator)
    both = "; ".join(cookies[caller]["Cookie"] for caller in ("an administrator's cookie", "an operator's log-in"))
    headers = {"Cookie": both, "Origin": ELSEWHERE}
    with CaptureQueriesContext(connection) as queries:
        answer = call(name, headers, data="{}", content_type=kind)
    refused = ENDPOINTS[name].level.refusal("nobody")
    assert answer.status_code == (refused[0] if refused else 415)
    assert not [query["sql"] for query in queries if re.match("INSERT|UPDATE|DELETE", query["sql"])]


@pytest.mark.parametrize("name", ENDPOINTS)
def test_scripts_of_other_origins_read_what_is_public_and_do_nothing_else(name):
    method, requested = name.partition(" ")[0], "authorization,content-type,x-api-key"
    preflight = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": requested}
    # Reads whose parameters are in the body.
    is_read = method == "GET" or name in PREPARED or name == "POST /api/tokens/fetch-by-pool-addresses"
    is_public = is_read and ENDPOINTS[name].level in (PUBLIC, OPTIONAL_KEY, MORE_FOR_ADMINISTRATORS)
    for origin, allowed in ((ELSEWHERE, "*" if is_public else None), (LISTED, LISTED)):
        answer = call(name, {"Origin": origin, **preflight}, method="OPTIONS")
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed
        assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "authorization" not in call(name, {"Origin": ELSEWHERE, **preflight}, method="OPTIONS").headers.get(
        "Access-Control-Allow-Headers", ""
    )


@pytest.mark.parametrize("path", sorted({name.partition(" ")[2] for name in ENDPOINTS}))
def test_other_methods_are_refused_to_all_callers(path, issuer, administrator):
    key = credentials.issue_key("All", scopes=list(Scope))
    headers = {"x-api-key": key} | as_user(issuer, ADMINISTRATOR_FID) | new_session(administrator)
    known = [name for name in ENDPOINTS if name.partition(" ")[2] == path]
    for method in METHODS:
        if f"{method} {path}" not in known:
            answer = call(known[0], headers, method=method)
            assert (answer.status_code, "error" in answer.json()) == (405, True)


def test_users_see_only_their_own_pretokens(callers, pretoken):
    found = {
        caller: [row["id"] for row in call("GET /api/pretoken/pending", headers).json()["pendingPretokens"]]
        for caller, headers in callers(None).items()
        if caller in USERS
    }
    assert found == {"a user": [pretoken], "another user": [], "an administrator": []}
