"""Issuers of users' tokens, for made-up users: Farcaster's Quick Auth server, and Privy for any app.

Shapes: https://miniapps.farcaster.xyz/docs/sdk/quick-auth, https://docs.privy.io/authentication/user-authentication/access-tokens
and https://docs.privy.io/user-management/users/identity-tokens. Anybody who can reach it gets a token for any user: its
private keys are made at its start, are written nowhere and end with it, and no service believes it that is not told to.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from development.standins.http_server import Answer, Asked, StandIn

JWKS_PATH = "/.well-known/jwks.json"
PRIVY_ISSUER = "privy.io"
# As long as the real ones.
LIFETIME_SECONDS = 3600

_RSA, _EC = "quick-auth-1", "privy-1"


class IssuerStandIn(StandIn):
    """Both issuers on one port. `iss` of Quick Auth's tokens is its URL."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec_key = ec.generate_private_key(ec.SECP256R1())

    def answer(self, asked: Asked) -> Answer | None:
        """A JWKS, or a token: `/tokens/quick-auth?fid=&domain=`, `/tokens/privy?subject=&app_id=` (and `&fid=`)."""
        parts = asked.path.strip("/").split("/")
        try:
            match parts:
                case [".well-known", "jwks.json"]:
                    return Answer({"keys": [self._rsa_jwk()]})
                case ["v1", "apps", _, "jwks.json"]:
                    return Answer({"keys": [self._ec_jwk()]})
                case ["tokens", "quick-auth"]:
                    return Answer({"token": self.quick_auth(int(asked.query["fid"]), domain=asked.query["domain"])})
                case ["tokens", "privy"]:
                    fid = asked.query.get("fid")
                    subject, app_id = asked.query["subject"], asked.query["app_id"]
                    token = self.privy(subject, app_id=app_id, fid=None if fid is None else int(fid))
                    return Answer({"token": token})
        except (KeyError, ValueError):
            return Answer({"error": "a parameter is missing, or no number"}, status=400)
        return None

    def quick_auth(self, fid: Any, *, domain: str, **claims: Any) -> str:
        """A token of Quick Auth; further claims are added, or take the place of the usual ones."""
        usual = {"iss": self.url, "aud": domain, "sub": fid} | _times()
        return self.sign(usual | claims, "RS256")

    def privy(self, subject: str, *, app_id: str, fid: int | None = None, **claims: Any) -> str:
        """An access token of Privy, or with a FID an identity token that shows it."""
        usual: dict[str, Any] = {"iss": PRIVY_ISSUER, "aud": app_id, "sub": subject} | _times()
        if fid is None:
            usual["sid"] = "sample-session"
        else:
            account = {"type": "farcaster", "fid": fid, "username": f"sample{fid}", "oa": "0x" + "00" * 20, "lv": 0}
            usual |= {"cr": str(usual["iat"]), "linked_accounts": json.dumps([account])}
        return self.sign(usual | claims, "ES256")

    def sign(self, claims: Mapping[str, Any], algorithm: str, *, headers: Mapping[str, Any] | None = None) -> str:
        """A token of any claims, RS256 or ES256; further headers are added, or take the place of the usual ones."""
        key, key_id = (self.rsa_key, _RSA) if algorithm == "RS256" else (self.ec_key, _EC)
        return jwt.encode(dict(claims), key, algorithm=algorithm, headers={"kid": key_id, **(headers or {})})

    def _rsa_jwk(self) -> dict[str, Any]:
        public = RSAAlgorithm.to_jwk(self.rsa_key.public_key(), as_dict=True)
        return {**public, "kid": _RSA, "alg": "RS256", "use": "sig"}

    def _ec_jwk(self) -> dict[str, Any]:
        public = ECAlgorithm.to_jwk(self.ec_key.public_key(), as_dict=True)
        return {**public, "kid": _EC, "alg": "ES256", "use": "sig"}


def _times() -> dict[str, int]:
    now = int(time.time())
    return {"iat": now, "exp": now + LIFETIME_SECONDS}
