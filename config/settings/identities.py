"""Settings of users' tokens: trusted issuers and the meaning of their claims."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from config.environment.variables import check_url, env_float, invalid_value, load_env_file, split_list

# Imported before `config.settings` has loaded the file.
load_env_file()

# Allowed signature algorithms. A shared secret (HS256) is not allowed: our copy of it could sign, too.
ALGORITHMS = ("RS256", "ES256", "EdDSA")

_NAME = re.compile(r"[A-Z][A-Z0-9]{0,29}")
_APP_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LONGEST_ISSUER = 200

SubjectKind = Literal["fid", "id"]
_KINDS: dict[str, SubjectKind] = {"fid": "fid", "id": "id"}


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """Trusted issuer: the `iss` and `aud` of its tokens, and the URL of its public keys."""

    issuer: str
    # A token must name one of them.
    audiences: tuple[str, ...]
    jwks_url: str
    algorithms: tuple[str, ...]
    # Meaning of `sub`: the user's FID, or an opaque id of the issuer.
    subject: SubjectKind
    # Whether a token may contain a FID besides its subject, in `linked_accounts` as Privy's identity tokens do.
    links_accounts: bool = False


def env_issuers(environment: Mapping[str, str] | None = None) -> tuple[Issuer, ...]:
    """Return the issuers in the environment. Raises ImproperlyConfigured, also for a duplicate `iss`."""
    env = {name: text.strip() for name, text in (os.environ if environment is None else environment).items()}
    found = [*_farcaster(env), *_privy(env), *_others(env)]
    if len({issuer.issuer for issuer in found}) < len(found):
        raise invalid_value("OIDC_ISSUERS", "issuers each of which is named once")
    return tuple(found)


def _farcaster(env: Mapping[str, str]) -> list[Issuer]:
    """Return the issuer of Quick Auth: https://miniapps.farcaster.xyz/docs/sdk/quick-auth."""
    domains = split_list(env.get("FARCASTER_AUTH_DOMAINS", ""))
    if any("/" in domain for domain in domains):
        raise invalid_value("FARCASTER_AUTH_DOMAINS", "domains only, such as app.example, without https://")
    origin = _url(env, "FARCASTER_AUTH_ORIGIN", "https://auth.farcaster.xyz")
    if not domains:
        return []
    jwks_url = f"{origin}/.well-known/jwks.json"
    algorithms = ("RS256", "EdDSA")
    return [Issuer(issuer=origin, audiences=domains, jwks_url=jwks_url, algorithms=algorithms, subject="fid")]


def _privy(env: Mapping[str, str]) -> list[Issuer]:
    """Return Privy's issuer: https://docs.privy.io/authentication/user-authentication/access-tokens."""
    app_id = env.get("PRIVY_APP_ID", "")
    if not app_id:
        return []
    if not _APP_ID.fullmatch(app_id):
        raise invalid_value("PRIVY_APP_ID", "the id of an app: letters, digits, - and _")
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
        raise invalid_value("OIDC_ISSUERS", "names of capital letters and digits, with commas between them")
    prefix = f"OIDC_{name}_"
    issuer = env.get(f"{prefix}ISSUER", "")
    if not 1 <= len(issuer) <= _LONGEST_ISSUER:
        raise invalid_value(f"{prefix}ISSUER", f"what its tokens have as iss, of at most {_LONGEST_ISSUER} characters")
    audiences = split_list(env.get(f"{prefix}AUDIENCE", ""))
    if not audiences:
        # Without it, a token for any other service would be accepted here.
        raise invalid_value(f"{prefix}AUDIENCE", "what its tokens for this service have as aud")
    algorithms = split_list(env.get(f"{prefix}ALGORITHMS", "")) or ALGORITHMS
    if not set(algorithms) <= set(ALGORITHMS):
        raise invalid_value(f"{prefix}ALGORITHMS", f"one or more of {', '.join(ALGORITHMS)}, with commas between them")
    kind = _KINDS.get(env.get(f"{prefix}SUBJECT", "") or "id")
    if kind is None:
        raise invalid_value(f"{prefix}SUBJECT", " or ".join(_KINDS))
    jwks_url = _url(env, f"{prefix}JWKS_URL", "")
    return Issuer(issuer=issuer, audiences=audiences, jwks_url=jwks_url, algorithms=algorithms, subject=kind)


def _url(env: Mapping[str, str], name: str, default: str) -> str:
    """Return the URL of an issuer's keys.

    Keys modified in transit would let an attacker be any user: the URL must use https:// or point to this machine.
    """
    text = env.get(name, "") or default
    check_url(name, text, ("http", "https"))
    parts = urlsplit(text)
    if parts.scheme != "https" and not _is_this_machine(parts.hostname or ""):
        raise invalid_value(
            name, "an address that starts with https://, or with http:// and names this machine: 127.0.0.1"
        )
    return text.rstrip("/")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Trusted issuers: Farcaster for FARCASTER_AUTH_DOMAINS, Privy for PRIVY_APP_ID, and those of OIDC_ISSUERS.
IDENTITY_ISSUERS = env_issuers()
# Timeout of the connection, response head and body of an issuer's keys, each; also of a request that waits for another
# one to fetch them.
IDENTITY_TIMEOUT_SECONDS = env_float("IDENTITY_TIMEOUT_SECONDS", 3.0, minimum=0.1, maximum=10.0)
