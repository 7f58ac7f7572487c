"""Endpoints for unsigned transactions: a view and an operation for each action."""

from collections.abc import Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.authentication import OptionalPartnerKeyAuthentication, PartnerKeyScheme
from accounts.models import PartnerKey
from config.api.errors import BadRequestError
from config.api.throttling import AnonymousTransactionLimit, TransactionLimit
from config.api.views import LimitedView
from config.parsing.json_rules import Component, object_schema
from config.processes.concurrency_limits import LARGE_BODY_BYTES
from tokens.chains.errors import (
    CallWouldRevertError,
    SenderBalanceTooLowError,
    SwapUnavailableError,
    UnknownContractError,
    WouldRevertError,
)
from tokens.deploying.api_errors import as_api_errors
from tokens.deploying.sales.presale_list import NoPresalesError
from tokens.transactions.action_fields import SENDER
from tokens.transactions.actions import ACTIONS
from tokens.transactions.call_building import UnknownTokenError, WalletAction
from tokens.transactions.preparing import PreparedTransaction, prepare
from tokens.transactions.responses import PreparedSwapJson, PreparedTransactionJson, swap_body, transaction_body
from tokens.transactions.token_swaps import SWAP

# Its type in the package leaves out the scopes that OpenAPI has.
_SECURITY: Any = [{PartnerKeyScheme.name: []}, {}]


class TransactionView(LimitedView):
    """Base class for the actions' views; a partner's key is optional and only raises the limit."""

    authentication_classes = [OptionalPartnerKeyAuthentication]
    permission_classes = [AllowAny]
    # Nothing is stored or sent.
    reads_by_post = True
    # An anonymous caller never takes the slot for large bodies.
    max_body_bytes = LARGE_BODY_BYTES
    action: ClassVar[WalletAction]

    def own_limits(self) -> Sequence[type[BaseThrottle]]:
        """Return the partners' limit, or the per-IP limit without a key."""
        return [AnonymousTransactionLimit if self._partner() is None else TransactionLimit]

    def post(self, request: Request) -> Response:
        """Return the action's unsigned calls."""
        transaction = self._prepare(request.data)
        offer = transaction.offer
        return Response(swap_body(transaction, offer) if offer else transaction_body(transaction))

    def _prepare(self, body: Any) -> PreparedTransaction:
        with as_api_errors():
            try:
                return prepare(self.action, body, partner=self._partner())
            except UnknownTokenError as error:
                raise NotFound("Token not found") from error
            except NoPresalesError as error:
                raise BadRequestError("chainId must be a chain with a presale contract", field="chainId") from error
            except SenderBalanceTooLowError as error:
                raise BadRequestError("from has fewer coins than the calls send", field="from") from error
            except SwapUnavailableError as error:
                raise BadRequestError(f"The swap is not possible: {error}") from error
            except UnknownContractError as error:
                raise BadRequestError(f"chainId must be a chain with swaps: {error}", field="chainId") from error
            except WouldRevertError as error:
                raise BadRequestError(_revert_text(error)) from error

    def _partner(self) -> PartnerKey | None:
        key: Any = self.request.auth
        return key if isinstance(key, PartnerKey) else None


def _revert_text(error: WouldRevertError) -> str:
    subject = (
        f"Call {error.index + 1}" if isinstance(error, CallWouldRevertError) and error.index else "The transaction"
    )
    return f"{subject} would be reverted: {error.reason}"


def _class_name(action: WalletAction) -> str:
    return "".join(word.title() for word in action.name.split("-"))


def operation_id(action: WalletAction) -> str:
    """Return the action's name in the API description."""
    return f"prepare{_class_name(action)}"


def action_view(action: WalletAction) -> type[TransactionView]:
    """Return the action's view, whose operation is `prepare` and the action's name."""
    name = _class_name(action)
    body = Component(f"{name}Body", object_schema({**SENDER, **action.fields}))
    response = PreparedSwapJson if action.name == SWAP else PreparedTransactionJson
    described = extend_schema_view(
        post=extend_schema(
            operation_id=operation_id(action),
            description=action.description,
            request=body,
            responses={200: response, 404: None, 503: None},
            auth=_SECURITY,
        )
    )
    view: type[TransactionView] = described(
        type(
            f"{name}View", (TransactionView,), {"action": action, "__module__": __name__, "__doc__": action.description}
        )
    )
    return view


VIEWS = {name: action_view(action) for name, action in ACTIONS.items()}
