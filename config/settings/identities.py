"""The knobs of users' tokens, which `config.settings` takes in: whose tokens are believed, and what they say."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from config.environment.variables import check_url, env_float, load_env_file, refused, split_list

# This module is imported before the settings have read it.
load_env_file()

# What tokens may be signed with. A secret that both sides have (HS256) is none of it: our copy of it could sign, too.
ALGORITHMS = ("RS256", "ES256", "EdDSA")

_NAME = re.compile(r"[A-Z][A-Z0-9]{0,29}")
_APP_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LONGEST_ISSUER = 200

SubjectKind = Literal["fid", "id"]
_KINDS: dict[str, SubjectKind] = {"fid": "fid", "id": "id"}


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """Somebody whose tokens are believed: what theirs have as `iss` and `aud`, and where their public keys are."""

    issuer: str
    # A token has to be made for one of them.
    audiences: tuple[str, ...]
    jwks_url: str
    algorithms: tuple[str, ...]
    # What `sub` is: the user's number in the social protocol, or an id that the issuer alone knows.
    subject: SubjectKind
    # Whether a token may show a FID beside its subject, in `linked_accounts` as Privy's identity tokens do.
    links_accounts: bool = False


def env_issuers(environment: Mapping[str, str] | None = None) -> tuple[Issuer, ...]:
    """Those that the environment names. Raises ImproperlyConfigured, also where two of them have the same `iss`."""
    env = {name: text.strip() for name, text in (os.environ if environment is None else environment).items()}
    found = [*_farcaster(env), *_privy(env), *_others(env)]
    if len({issuer.issuer for issuer in found}) < len(found):
        raise refused("OIDC_ISSUERS", "issuers each of which is named once")
    return tuple(found)


def _farcaster(env: Mapping[str, str]) -> list[Issuer]:
    """Quick Auth: https://miniapps.farcaster.xyz/docs/sdk/quick-auth."""
    domains = split_list(env.get("FARCASTER_AUTH_DOMAINS", ""))
    if any("/" in domain for domain in domains):
        raise refused("FARCASTER_AUTH_DOMAINS", "domains alone, such as app.example, without https://")
    origin = _url(env, "FARCASTER_AUTH_ORIGIN", "https://auth.farcaster.xyz")
    if not domains:
        return []
    jwks_url = f"{origin}/.well-known/jwks.json"
    algorithms = ("RS256", "EdDSA")
    return [Issuer(issuer=origin, audiences=domains, jwks_url=jwks_url, algorithms=algorithms, subject="fid")]


def _privy(env: Mapping[str, str]) -> list[Issuer]:
    """Access and identity tokens: https://docs.privy.io/authentication/user-authentication/access-tokens."""
    app_id = env.get("PRIVY_APP_ID", "")
    if not app_id:
        return []
    if not _APP_ID.fullmatch(app_id):
        raise refused("PRIVY_APP_ID", "the id of an app: letters, digits, - and _")
    return [
        Issuer(
            issuer="privy.io",
            audiences=(app_id,),
            jwks_url=_url(env, "PRIVY_JWKS_URL", f"https://api.privy.io/v1/apps/{app_id}/jwks.json"),
            algorithms=("ES256",),
            subject="id",
            links_accounts=True,
        )
    ]


def _others(env: Mapping[str, str]) -> list[Issuer]:
    return [_other(env, name) for name in split_list(env.get("OIDC_ISSUERS", ""))]


def _other(env: Mapping[str, str], name: str) -> Issuer:
    if not _NAME.fullmatch(name):
        raise refused("OIDC_ISSUERS", "names of capital letters and digits, with commas between them")
    prefix = f"OIDC_{name}_"
    issuer = env.get(f"{prefix}ISSUER", "")
    if not 1 <= len(issuer) <= _LONGEST_ISSUER:
        raise refused(f"{prefix}ISSUER", f"what its tokens have as iss, of at most {_LONGEST_ISSUER} characters")
    audiences = split_list(env.get(f"{prefix}AUDIENCE", ""))
    if not audiences:
        # Without one, a token made for any other service would let its bearer in here.
        raise refused(f"{prefix}AUDIENCE", "what its tokens for this service have as aud")
    algorithms = split_list(env.get(f"{prefix}ALGORITHMS", "")) or ALGORITHMS
    if not set(algorithms) <= set(ALGORITHMS):
        raise refused(f"{prefix}ALGORITHMS", f"one or more of {', '.join(ALGORITHMS)}, with commas between them")
    kind = _KINDS.get(env.get(f"{prefix}SUBJECT", "") or "id")
    if kind is None:
        raise refused(f"{prefix}SUBJECT", " or ".join(_KINDS))
    jwks_url = _url(env, f"{prefix}JWKS_URL", "")
    return Issuer(issuer=issuer, audiences=audiences, jwks_url=jwks_url, algorithms=algorithms, subject=kind)


def _url(env: Mapping[str, str], name: str, default: str) -> str:
    """Where keys are. Whoever can change them on their way can be any user, so that they come encrypted, or not far."""
    text = env.get(name, "") or default
    check_url(name, text, ("http", "https"))
    parts = urlsplit(text)
    if parts.scheme != "https" and not _is_this_machine(parts.hostname or ""):
        raise refused(name, "an address that starts with https://, or with http:// and names this machine: 127.0.0.1")
    return text.rstrip("/")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Whose tokens are believed: Farcaster's for FARCASTER_AUTH_DOMAINS, Privy's for PRIVY_APP_ID, those of OIDC_ISSUERS.
IDENTITY_ISSUERS = env_issuers()
# How long an issuer's keys may take for the connection, the answer's head and its body, each; and how long the one call
# that needs keys which are not known yet waits for all of it.
IDENTITY_TIMEOUT_SECONDS = env_float("IDENTITY_TIMEOUT_SECONDS", 3.0, minimum=0.1, maximum=10.0)
