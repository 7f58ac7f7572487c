"""Endpoints to sign in with a wallet."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import UNAUTHORIZED, OptionalUserAuthentication
from accounts.users import wallet_tokens
from accounts.users.identity import find_issuer
from accounts.users.responses import NonceAnswer, SignInAnswer
from accounts.users.serializers import SignInBody
from accounts.users.sign_in_messages import InvalidMessageError
from accounts.users.wallet_sign_in import SignInRefusedError, sign_in
from config.api.errors import UpstreamUnavailableError
from config.api.throttling import SignInLimit
from config.api.views import QueryView
from config.environment.issuers import WALLET_ISSUER
from config.web.body_limits import SMALL_BODY_BYTES
from tokens.chains.errors import NodeUnavailableError


class WalletView(QueryView):
    """Base class for sign-in endpoints, which are 404 while sign-in with a wallet is off."""

    throttle_classes = [SignInLimit]
    max_body_bytes = SMALL_BODY_BYTES

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse the request before its body is parsed."""
        super().initial(request, *args, **kwargs)
        if find_issuer(WALLET_ISSUER) is None:
            raise NotFound("Sign-in with a wallet is off on this installation")

    def get_authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate challenge, without which the framework would respond 403 instead of 401."""
        return OptionalUserAuthentication().authenticate_header(request)


class SignInNonceView(WalletView):
    """Nonces for sign-ins."""

    @extend_schema(operation_id="createSignInNonce", request=None, responses={200: NonceAnswer, 404: None, 503: None})
    def post(self, request: Request) -> Response:
        """Create a nonce for one sign-in with a wallet, valid for ten minutes. 404 means that sign-in is off."""
        # A form that another site posts is 415 here, and stores nothing.
        _ = request.data
        nonce = wallet_tokens.issue_nonce()
        return Response(NonceAnswer(nonce=nonce.nonce, expiresAt=nonce.expires_at))


class SignInView(WalletView):
    """Sign-in with a wallet."""

    @extend_schema(
        operation_id="signIn", request=SignInBody, responses={200: SignInAnswer, 401: None, 404: None, 503: None}
    )
    def post(self, request: Request) -> Response:
        """Exchange a signed message for a user token, valid for an hour.

        A message that does not sign in here and now is 400, with the broken rule. 401 if its nonce is unknown, used or
        expired, or the signature is not the wallet's; the nonce is then used up. Contract wallets are decided by their
        chain at the newest block: 503 while none of its nodes responds, and you may send the same request again. A
        key's user is the same on all chains; a contract's user is one of its chain. 404 means that sign-in is off.
        """
        body = SignInBody(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            issued = sign_in(body.validated_data["message"], body.validated_data["signature"])
        except InvalidMessageError as error:
            raise ValidationError({"message": [str(error)]}) from error
        except SignInRefusedError as error:
            raise AuthenticationFailed(UNAUTHORIZED) from error
        except NodeUnavailableError as error:
            raise UpstreamUnavailableError("The chain is not available") from error
        return Response(SignInAnswer(success=True, token=issued.token, expiresAt=issued.expires_at))
