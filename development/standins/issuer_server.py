"""Stand-in issuers of user tokens: Farcaster's Quick Auth server, and Privy for any app.

Shapes: https://miniapps.farcaster.xyz/docs/sdk/quick-auth,
https://docs.privy.io/authentication/user-authentication/access-tokens and
https://docs.privy.io/user-management/users/identity-tokens. It issues tokens for any user to any caller. Its private
keys are generated at its start and never stored, and only services configured for it trust them.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest

PRIVY_ISSUER = "privy.io"
# The real tokens' lifetime.
LIFETIME_SECONDS = 3600

_RSA, _EC = "quick-auth-1", "privy-1"


class IssuerStandIn(StandIn):
    """Both issuers on one port. Quick Auth's tokens have its URL as `iss`."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec_key = ec.generate_private_key(ec.SECP256R1())

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return a JWKS or a token.

        Token paths: `/tokens/quick-auth?fid=&domain=`, `/tokens/privy?subject=&app_id=` (and `&fid=`).
        """
        parts = received.path.strip("/").split("/")
        try:
            match parts:
                case [".well-known", "jwks.json"]:
                    return StandInResponse({"keys": [self._rsa_jwk()]})
                case ["v1", "apps", _, "jwks.json"]:
                    return StandInResponse({"keys": [self._ec_jwk()]})
                case ["tokens", "quick-auth"]:
                    return StandInResponse(
                        {"token": self.quick_auth(int(received.query["fid"]), domain=received.query["domain"])}
                    )
                case ["tokens", "privy"]:
                    fid = received.query.get("fid")
                    subject, app_id = received.query["subject"], received.query["app_id"]
                    token = self.privy(subject, app_id=app_id, fid=None if fid is None else int(fid))
                    return StandInResponse({"token": token})
        except (KeyError, ValueError):
            return StandInResponse({"error": "a parameter is missing, or no number"}, status=400)
        return None

    def quick_auth(self, fid: Any, *, domain: str, **claims: Any) -> str:
        """Return a Quick Auth token; `claims` are added to the usual claims, or override them."""
        usual = {"iss": self.url, "aud": domain, "sub": fid} | _times()
        return self.sign(usual | claims, "RS256")

    def privy(self, subject: str, *, app_id: str, fid: int | None = None, **claims: Any) -> str:
        """Return a Privy access token, or with a FID an identity token that contains it."""
        usual: dict[str, Any] = {"iss": PRIVY_ISSUER, "aud": app_id, "sub": subject} | _times()
        if fid is None:
            usual["sid"] = "sample-session"
        else:
            account = {"type": "farcaster", "fid": fid, "username": f"sample{fid}", "oa": "0x" + "00" * 20, "lv": 0}
            usual |= {"cr": str(usual["iat"]), "linked_accounts": json.dumps([account])}
        return self.sign(usual | claims, "ES256")

    def sign(self, claims: Mapping[str, Any], algorithm: str, *, headers: Mapping[str, Any] | None = None) -> str:
        """Return a token with these claims, RS256 or ES256; `headers` extend or override the usual headers."""
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
