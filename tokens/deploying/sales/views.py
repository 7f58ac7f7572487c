"""Endpoints for presales and their allow-lists."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.models import Scope
from accounts.permissions import PartnerWrites
from config.api.errors import BadRequestError, UpstreamUnavailableError
from config.api.replica_reads import from_replica
from config.api.throttling import DeployLimit
from config.api.views import QueryView
from config.web.body_limits import MAX_BODY_BYTES
from config.web.response_headers import public_cache_control
from tokens.chains.errors import NodeUnavailableError
from tokens.deploying import api_errors
from tokens.deploying.sales import responses
from tokens.deploying.sales.posted_allowlists import ALLOWLIST_BODY, save_allowlist
from tokens.deploying.sales.presale_allowlists import PresaleAllowlist, find_allowlist
from tokens.deploying.sales.presale_list import NoPresalesError, fetch_presale_page
from tokens.deploying.sales.presale_search import PresaleFilter
from tokens.deploying.sales.serializers import AllowlistProofQuery, AllowlistQuery, PresalesQuery
from tokens.deploying.views import DEPLOY_SECURITY, SAVED_ID, SavedTreesView, SavedTreeView
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.models import SavedTree, TreeKind

_NO_PRESALES = "chainId must be a chain of this service with a presale contract"


class PresalesView(QueryView):
    """Presales on a chain."""

    query_serializer = PresalesQuery
    cache_control = public_cache_control(15)

    @extend_schema(operation_id="listPresales", responses={200: responses.Presales, 503: None})
    def get(self, request: Request) -> Response:
        """List the presales of a chain by id, with their state as of up to 15 seconds ago.

        Filters cover the newest 1,000 presales of the contract, and find what matched up to a minute ago.
        """
        only = PresaleFilter(
            state=self.query.get("state"), owner=self.query.get("owner"), admin=self.query.get("tokenAdmin")
        )
        try:
            body = fetch_presale_page(
                self.query["chainId"],
                offset=self.query["offset"],
                limit=self.query["limit"],
                newest_first=self.query["sort"] == "desc",
                only=only,
            )
        except (NoPresalesError, UnsupportedChainError) as error:
            raise BadRequestError(_NO_PRESALES, field="chainId") from error
        except NodeUnavailableError as error:
            raise UpstreamUnavailableError("The chain is not available") from error
        return Response(body)


class AllowlistView(PartnerWrites, QueryView):
    """A presale's allow-list, and allow-lists that partners post."""

    required_scope = Scope.DEPLOY
    query_serializer = AllowlistQuery
    cache_control = public_cache_control(60)
    # Holds 10,000 entries.
    max_body_bytes = 2 * MAX_BODY_BYTES

    def own_limits(self) -> Sequence[type[BaseThrottle]]:
        """Return the launch request limit for a POST, as for one that saves an airdrop."""
        return [DeployLimit] if self.request.method == "POST" else []

    @extend_schema(
        operation_id="getPresaleAllowlist", responses={200: responses.PresaleAllowlistJson, 404: None, 503: None}
    )
    @from_replica
    def get(self, request: Request) -> Response:
        """Return the buyers of a presale that this service has started, or whose entries are posted. Others are 404.

        Both are found by the root that the allow-list contract has for the presale, as of up to 15 seconds ago: once
        its owner has replaced the root, the former buyers are gone. Posted entries are by address.
        """
        presale_id, chain_id = self.query["presaleId"], self.query["chainId"]
        allowlist = _find(chain_id, presale_id)
        body: responses.PresaleAllowlistJson = {
            "presaleId": presale_id,
            "chainId": chain_id,
            "merkleRoot": allowlist.root,
            "allocations": [{"address": buyer, "allowedAmountWei": str(most)} for buyer, most in allowlist.buyers()],
        }
        return Response(body)

    @extend_schema(
        operation_id="savePresaleAllowlist",
        request=ALLOWLIST_BODY.schema,
        responses={200: responses.SavedAllowlistAnswer, 409: None, 413: None},
        auth=DEPLOY_SECURITY,
    )
    def post(self, request: Request) -> Response:
        """Save the entries of an allow-list, and return the root of their Merkle tree.

        Start the presale with this root. Its buyers and their proofs are served here once the allow-list contract has
        the root, also if the presale is started elsewhere, later or earlier. The same entries are saved once: a
        repeated request gets the same response. A key may have 1,000,000 saved entries, with those of airdrops, else
        the response is 409. Each request counts for the daily rate limit of launch requests.
        """
        partner: Any = request.auth
        with api_errors.as_api_errors():
            saved = save_allowlist(request.data, partner=partner)
        return Response(responses.SavedAllowlistAnswer(**_saved_body(saved), success=True))


class AllowlistProofView(QueryView):
    """A buyer's proof for a presale."""

    query_serializer = AllowlistProofQuery
    cache_control = public_cache_control(60)

    @extend_schema(
        operation_id="getPresaleAllowlistProof",
        responses={200: responses.AllowlistProofAnswer, 404: None, 503: None},
    )
    @from_replica
    def get(self, request: Request) -> Response:
        """Return whether an account may buy in a presale of `getPresaleAllowlist`, with the proof for it."""
        allowlist = _find(self.query["chainId"], self.query["presaleId"])
        return Response(allowlist.prove_buyer(self.query["buyerAddress"]))


@extend_schema_view(
    get=extend_schema(
        operation_id="listSavedAllowlists",
        description="List the allow-lists that your key has posted, newest first, whether or not a presale has them.",
        responses={200: responses.SavedAllowlists},
    )
)
class SavedAllowlistsView(SavedTreesView):
    """Allow-lists that a partner has posted."""

    kind = TreeKind.ALLOWLIST

    def page_body(self, trees: Sequence[SavedTree], cursor: int | None) -> responses.SavedAllowlists:
        """Return the body for a page."""
        return {"data": [_saved_body(tree) for tree in trees], "cursor": cursor}


@extend_schema_view(
    delete=extend_schema(
        operation_id="deleteSavedAllowlist",
        description="Delete an allow-list of your key. Its presales have no buyers and proofs here from then on.",
        parameters=[SAVED_ID],
        responses={200: responses.DeletedAllowlist},
    )
)
class SavedAllowlistView(SavedTreeView):
    """One allow-list that a partner has posted."""

    kind, missing_text = TreeKind.ALLOWLIST, "Allow-list not found"


def _find(chain_id: int, presale_id: int) -> PresaleAllowlist:
    try:
        allowlist = find_allowlist(chain_id, presale_id)
    except (NoPresalesError, UnsupportedChainError) as error:
        raise BadRequestError(_NO_PRESALES, field="chainId") from error
    except NodeUnavailableError as error:
        raise UpstreamUnavailableError("The chain is not available") from error
    if allowlist is None:
        raise NotFound("Presale not found")
    return allowlist


def _saved_body(tree: SavedTree) -> responses.SavedAllowlist:
    return {"id": tree.pk, "merkleRoot": tree.root, "entries": tree.entry_count, "createdAt": tree.created_at}
