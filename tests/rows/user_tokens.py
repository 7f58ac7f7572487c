"""A pytest plugin: a user token issuer that the service trusts, and made-up users' tokens."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.users import jwks
from config.environment.issuers import read_issuers
from development.standins.http_server import Mode
from development.standins.issuer_server import IssuerStandIn

DOMAIN, APP_ID = "app.example", "sample-app"


def as_user(issuer: IssuerStandIn, fid: int) -> dict[str, str]:
    """Return a user's headers with a Quick Auth token."""
    return bearer(issuer.quick_auth(fid, domain=DOMAIN))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="session")
def _issuer() -> Iterator[IssuerStandIn]:
    with IssuerStandIn() as running:
        yield running


@pytest.fixture
def issuer(_issuer: IssuerStandIn, settings: Any) -> Iterator[IssuerStandIn]:
    """Run Quick Auth for DOMAIN and Privy for APP_ID, with no requests so far and no keys cached."""
    settings.IDENTITY_ISSUERS = read_issuers(
        {
            "FARCASTER_AUTH_DOMAINS": DOMAIN,
            "FARCASTER_AUTH_ORIGIN": _issuer.url,
            "PRIVY_APP_ID": APP_ID,
            "PRIVY_JWKS_URL": f"{_issuer.url}/v1/apps/{APP_ID}/jwks.json",
        }
    )
    jwks.key_set.cache_clear()
    _issuer.received.clear()
    _issuer.behave(Mode.OK)
    _issuer.change, _issuer.refuse = lambda requested, body: body, lambda requested: None
    yield _issuer
    jwks.key_set.cache_clear()
