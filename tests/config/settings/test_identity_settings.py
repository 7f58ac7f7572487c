"""Settings of users' tokens: refused values and trusted issuers."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment.issuers import ALGORITHMS, Issuer, read_issuers

OTHER = {
    "OIDC_ISSUERS": "ONE",
    "OIDC_ONE_ISSUER": "https://auth.example/",
    "OIDC_ONE_AUDIENCE": "launchboard",
    "OIDC_ONE_JWKS_URL": "https://auth.example/jwks.json",
}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"FARCASTER_AUTH_DOMAINS": "https://app.example"}, "FARCASTER_AUTH_DOMAINS"),
        ({"FARCASTER_AUTH_ORIGIN": "auth.farcaster.xyz"}, "FARCASTER_AUTH_ORIGIN"),
        ({"PRIVY_APP_ID": "a/b"}, "PRIVY_APP_ID"),
        ({"PRIVY_APP_ID": "a", "PRIVY_JWKS_URL": "file:///etc/passwd"}, "PRIVY_JWKS_URL"),
        ({"OIDC_ISSUERS": "one"}, "OIDC_ISSUERS"),
        ({"OIDC_ISSUERS": "ONE,ONE"}, "OIDC_ISSUERS"),
        ({"OIDC_ONE_ISSUER": "x" * 201}, "OIDC_ONE_ISSUER"),
        ({"OIDC_ONE_AUDIENCE": ","}, "OIDC_ONE_AUDIENCE"),
        ({"OIDC_ONE_JWKS_URL": "ftp://auth.example"}, "OIDC_ONE_JWKS_URL"),
        ({"OIDC_ONE_ALGORITHMS": "HS256"}, "OIDC_ONE_ALGORITHMS"),
        ({"OIDC_ONE_ALGORITHMS": "RS256,none"}, "OIDC_ONE_ALGORITHMS"),
        ({"OIDC_ONE_SUBJECT": "number"}, "OIDC_ONE_SUBJECT"),
        # An attacker that changes the response on its way could be any user.
        ({"OIDC_ONE_JWKS_URL": "http://auth.example/jwks.json"}, "OIDC_ONE_JWKS_URL"),
        ({"OIDC_ONE_JWKS_URL": "http://10.0.0.1/jwks.json"}, "OIDC_ONE_JWKS_URL"),
        ({"OIDC_ONE_JWKS_URL": "http://127.0.0.1@auth.example/jwks.json"}, "OIDC_ONE_JWKS_URL"),
        ({"OIDC_ONE_JWKS_URL": "http://localhost.auth.example/jwks.json"}, "OIDC_ONE_JWKS_URL"),
        ({"OIDC_ONE_JWKS_URL": "http://0.0.0.0/jwks.json"}, "OIDC_ONE_JWKS_URL"),
        ({"PRIVY_APP_ID": "a", "PRIVY_JWKS_URL": "http://api.privy.io/jwks.json"}, "PRIVY_JWKS_URL"),
        ({"FARCASTER_AUTH_ORIGIN": "http://auth.farcaster.xyz"}, "FARCASTER_AUTH_ORIGIN"),
        # Two issuers with indistinguishable tokens.
        ({"PRIVY_APP_ID": "a", "OIDC_ONE_ISSUER": "privy.io"}, "OIDC_ISSUERS"),
        ({"WALLET_SIGN_IN": "true", "OIDC_ONE_ISSUER": "wallet"}, "OIDC_ISSUERS"),
    ],
)
def test_it_refuses_and_names(changes, name):
    with pytest.raises(ImproperlyConfigured, match=f"^{name} has a value that can't be used"):
        read_issuers(OTHER | changes)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"OIDC_ISSUERS": "TWO"}, "OIDC_TWO_ISSUER"),
        ({"OIDC_ONE_AUDIENCE": " "}, "OIDC_ONE_AUDIENCE"),
        ({"OIDC_ONE_JWKS_URL": ""}, "OIDC_ONE_JWKS_URL"),
    ],
)
def test_it_names_a_missing_variable_of_a_named_issuer(changes, name):
    issuer = name.split("_")[1]
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is missing: OIDC_ISSUERS names {issuer}$"):
        read_issuers(OTHER | changes)


@pytest.mark.parametrize("host", ["127.0.0.1:8700", "127.8.9.1", "[::1]:8700", "localhost", "LOCALHOST:8700"])
def test_keys_of_this_machine_may_come_without_encryption(host):
    (issuer,) = read_issuers(OTHER | {"OIDC_ONE_JWKS_URL": f"http://{host}/jwks.json"})
    assert issuer.jwks_url == f"http://{host}/jwks.json"


def test_no_issuer_is_trusted_without_a_setting():
    assert read_issuers({}) == ()
    assert read_issuers({"FARCASTER_AUTH_ORIGIN": "https://auth.example", "OIDC_ONE_ISSUER": "x"}) == ()


def test_domains_make_farcasters_tokens_trusted():
    assert read_issuers({"FARCASTER_AUTH_DOMAINS": "app.example, www.app.example"}) == (
        Issuer(
            issuer="https://auth.farcaster.xyz",
            audiences=("app.example", "www.app.example"),
            jwks_url="https://auth.farcaster.xyz/.well-known/jwks.json",
            algorithms=("RS256", "EdDSA"),
            subject="fid",
        ),
    )


def test_an_app_makes_privys_tokens_trusted():
    assert read_issuers({"PRIVY_APP_ID": "abc"}) == (
        Issuer(
            issuer="privy.io",
            audiences=("abc",),
            jwks_url="https://api.privy.io/v1/apps/abc/jwks.json",
            algorithms=("ES256",),
            subject="id",
            links_accounts=True,
        ),
    )


def test_this_services_own_tokens_are_trusted_for_its_site():
    assert read_issuers({"WALLET_SIGN_IN": "true"}, site_url="https://launch.example") == (
        Issuer(
            issuer="wallet",
            audiences=("https://launch.example",),
            jwks_url="",
            algorithms=("HS256",),
            subject="id",
        ),
    )


def test_others_are_trusted_as_they_are_set():
    usual = read_issuers(OTHER)[0]
    assert usual == Issuer(
        issuer="https://auth.example/",
        audiences=("launchboard",),
        jwks_url="https://auth.example/jwks.json",
        algorithms=ALGORITHMS,
        subject="id",
    )
    own = read_issuers(OTHER | {"OIDC_ONE_ALGORITHMS": "EdDSA", "OIDC_ONE_SUBJECT": "fid", "PRIVY_APP_ID": "a"})[1]
    assert (own.algorithms, own.subject) == (("EdDSA",), "fid")
