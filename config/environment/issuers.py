"""User token issuers in the environment, and the meaning of their claims."""

import os
from collections.abc import Mapping
from typing import Literal

from attrs import frozen
from django.core.exceptions import ImproperlyConfigured

from config.environment import kinds
from config.environment.variables import Parser, Value, invalid_value, parse_variable, read_variables, variable

# Allowed signature algorithms. A shared secret (HS256) is not allowed: our copy of it could sign, too.
ALGORITHMS = ("RS256", "ES256", "EdDSA")
# `iss` of the tokens that this service signs after a sign-in with a wallet. Their users depend on it.
WALLET_ISSUER = "wallet"

SubjectKind = Literal["fid", "id"]
_KINDS: dict[str, SubjectKind] = {"fid": "fid", "id": "id"}


@frozen(slots=False, repr=False)
class IssuerVariables:
    """Users: issuers whose tokens are trusted. Without any, only partners and operators can authenticate."""

    WALLET_SIGN_IN: bool = variable(kinds.switch, "false")
    """Whether users may sign in with a wallet on an EVM chain with a node here, and get a user token:
    [sign-in with a wallet](security.md#sign-in-with-a-wallet). Pages at `SITE_URL` and
    `CORS_ORIGINS` may call it."""
    FARCASTER_AUTH_DOMAINS: tuple[str, ...] = variable(kinds.domains, empty=())
    """Domains of your Farcaster mini apps, separated by commas: the audience of Quick Auth tokens.

    Example: app.example
    """
    FARCASTER_AUTH_ORIGIN: str = variable(kinds.keys_url, "https://auth.farcaster.xyz")
    """Quick Auth server."""
    PRIVY_APP_ID: str = variable(kinds.matching("[A-Za-z0-9_-]{1,100}", "the id of an app: letters, digits, - and _"))
    """Your Privy app's id. Its access tokens are accepted, and its identity tokens, which contain a linked Farcaster
    account."""
    PRIVY_JWKS_URL: str = variable(kinds.keys_url)
    """URL of the public keys for Privy's tokens.

    Default: your app's URL at Privy
    Example: https://api.privy.io/v1/apps/<PRIVY_APP_ID>/jwks.json
    """
    OIDC_ISSUERS: tuple[str, ...] = variable(kinds.names, empty=())
    """Further issuers' names, in capital letters and separated by commas. Each has variables that start with
    `OIDC_<name>_`: `ISSUER` (its tokens' `iss`), `AUDIENCE` (the `aud` for this service; several separated by commas),
    `JWKS_URL` (its public keys; `https://`, or `http://` on this machine), `ALGORITHMS` (among RS256, ES256 and EdDSA;
    by default all), and `SUBJECT` (the meaning of `sub`: `id` or `fid`; by default `id`).

    Example: EXAMPLE
    OIDC_EXAMPLE_ISSUER=https://auth.example
    OIDC_EXAMPLE_AUDIENCE=launchboard
    OIDC_EXAMPLE_JWKS_URL=https://auth.example/.well-known/jwks.json
    OIDC_EXAMPLE_ALGORITHMS=ES256
    OIDC_EXAMPLE_SUBJECT=id
    """


@frozen(kw_only=True)
class Issuer:
    """Trusted issuer: its tokens' `iss` and `aud`, and the URL with its public keys."""

    issuer: str
    # A token must name one.
    audiences: tuple[str, ...]
    # Empty for WALLET_ISSUER, whose key is this service's own.
    jwks_url: str
    algorithms: tuple[str, ...]
    # Meaning of `sub`: the user's FID, or the issuer's opaque id.
    subject: SubjectKind
    # Whether a token may contain a FID besides its subject, in `linked_accounts` as Privy's identity tokens do.
    links_accounts: bool = False


def read_issuers(environment: Mapping[str, str] | None = None, *, site_url: str = "") -> tuple[Issuer, ...]:
    """Return the issuers in the environment. Raises ImproperlyConfigured, also for a duplicate `iss`.

    `site_url` is the audience of this service's own tokens.
    """
    environment = os.environ if environment is None else environment
    variables = read_variables(IssuerVariables, environment)
    issuers = [_other(name, environment) for name in variables.OIDC_ISSUERS]
    if variables.PRIVY_APP_ID:
        issuers.insert(0, _privy(variables))
    if variables.FARCASTER_AUTH_DOMAINS:
        issuers.insert(0, _farcaster(variables))
    if variables.WALLET_SIGN_IN:
        issuers.append(_wallet(site_url))
    if len({issuer.issuer for issuer in issuers}) < len(issuers):
        raise invalid_value("OIDC_ISSUERS", "issuers, each named once")
    return tuple(issuers)


def _farcaster(variables: IssuerVariables) -> Issuer:
    """Return the issuer of Quick Auth: https://miniapps.farcaster.xyz/docs/sdk/quick-auth."""
    return Issuer(
        issuer=variables.FARCASTER_AUTH_ORIGIN,
        audiences=variables.FARCASTER_AUTH_DOMAINS,
        jwks_url=f"{variables.FARCASTER_AUTH_ORIGIN}/.well-known/jwks.json",
        algorithms=("RS256", "EdDSA"),
        subject="fid",
    )


def _privy(variables: IssuerVariables) -> Issuer:
    """Return Privy's issuer: https://docs.privy.io/authentication/user-authentication/access-tokens."""
    return Issuer(
        issuer="privy.io",
        audiences=(variables.PRIVY_APP_ID,),
        jwks_url=variables.PRIVY_JWKS_URL or f"https://api.privy.io/v1/apps/{variables.PRIVY_APP_ID}/jwks.json",
        algorithms=("ES256",),
        subject="id",
        links_accounts=True,
    )


def _wallet(site_url: str) -> Issuer:
    """Return this service as issuer (`accounts.users.wallet_tokens`)."""
    return Issuer(issuer=WALLET_ISSUER, audiences=(site_url,), jwks_url="", algorithms=("HS256",), subject="id")


def _other(name: str, environment: Mapping[str, str]) -> Issuer:
    def read(suffix: str, parse: Parser[Value], default: str = "") -> Value:
        variable = f"OIDC_{name}_{suffix}"
        text = environment.get(variable, "").strip() or default
        if not text:
            raise ImproperlyConfigured(f"{variable} is missing: OIDC_ISSUERS names {name}")
        return parse_variable(variable, text, parse)

    algorithm = kinds.matching("|".join(ALGORITHMS))
    several_algorithms = f"one or more of {', '.join(ALGORITHMS)}, with commas between them"
    return Issuer(
        issuer=read("ISSUER", kinds.matching(".{1,200}", "what its tokens have as iss, of at most 200 characters")),
        # Without it, a token for any other service would be accepted here.
        audiences=read("AUDIENCE", kinds.several(str, "what its tokens for this service have as aud")),
        algorithms=read("ALGORITHMS", kinds.several(algorithm, several_algorithms), ",".join(ALGORITHMS)),
        subject=read("SUBJECT", kinds.expecting("fid or id")(lambda text: _KINDS[text]), "id"),
        jwks_url=read("JWKS_URL", kinds.keys_url),
    )
