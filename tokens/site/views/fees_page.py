"""Page with a token's uncollected fees, which are read from a node; the token's page loads them on demand."""

from typing import Any

from django.http import Http404, HttpResponse
from django.template.response import TemplateResponse
from rest_framework.request import Request

from config.api.views import QueryView
from config.http.errors import PermanentError, RetryableError
from config.processes.concurrency_limits import node_slot
from config.web.response_headers import NO_STORE, page_headers
from tokens.chains.rpc.client import query_deadline
from tokens.fees.uncollected import UncollectedReport, read_uncollected
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.installation.installed_launchpads import is_declared
from tokens.installation.installed_registry import explorer_address_page
from tokens.models import Token
from tokens.site.page_tokens import describe_token, find_token_or_404

# As in the API: each response costs about four node requests.
_HEADERS = page_headers(15)
_RECIPIENTS_SHOWN = 20
# A visitor waits for the page, and a thread for the nodes.
_SECONDS = 3.0


class TokenFeesPage(QueryView):
    """A token's uncollected fees, with the public endpoints' rate limit and the slots for node requests."""

    schema = None

    def get(self, request: Request, chain_id: int, address: str) -> HttpResponse:
        """Render the fees per currency and recipient, or with status 503 that they can't be read now."""
        token = find_token_or_404(chain_id, address)
        if is_declared(token.generation):
            # Its fees are not read, and its token's page has no link.
            raise Http404
        context: dict[str, Any] = {}
        headers, status = _HEADERS, 200
        try:
            with node_slot(), query_deadline(_SECONDS):
                report = read_uncollected(token, recipient=None)
            context = {"report": report, "recipients": _recipients(token, report)}
        except (UnsupportedChainError, PermanentError, RetryableError):
            headers, status = _HEADERS | {"Cache-Control": NO_STORE}, 503
        page = describe_token(token) | context
        return TemplateResponse(request._request, "site/token_fees.html", page, status=status, headers=headers)


def _recipients(token: Token, report: UncollectedReport) -> list[dict[str, Any]]:
    """Return the table rows: a recipient and its fees in whole units."""
    return [
        {
            "recipient": each.recipient,
            "page": each.recipient and explorer_address_page(token.chain_id, each.recipient),
            "fees": [
                {
                    "symbol": fee.currency.symbol,
                    "harvested": fee.harvested / 10**fee.currency.decimals,
                    "pending": None if fee.pending is None else fee.pending / 10**fee.currency.decimals,
                }
                for fee in each.fees
            ],
        }
        for each in report.recipients[:_RECIPIENTS_SHOWN]
    ]
