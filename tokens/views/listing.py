"""Lists of tokens."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.caching import shared_for
from config.api.pagination import page
from config.api.views import QueryView
from tokens.filters import TokenFilter
from tokens.models import Token
from tokens.serializers import TOKEN_LIST_ANSWER, ListQuery, token_records


class TokenListView(QueryView):
    """Newest tokens first, or oldest; blocked tokens are in no list."""

    query_serializer = ListQuery
    filterset_class = TokenFilter
    cache_control = shared_for(2)

    @extend_schema(operation_id="listTokens", responses={200: TOKEN_LIST_ANSWER})
    def get(self, request: Request) -> Response:
        """List tokens."""
        tokens = self.filtered(Token.objects.listed().with_copies())
        rows, cursor = page(
            tokens,
            sort_by="deployed-at",
            field="deployed_at",
            descending=self.query["sort"] == "desc",
            limit=self.query["limit"],
            cursor_text=self.query.get("cursor"),
        )
        total = tokens.count()
        # Every filter there is so far is an identity filter, so that both counts are one.
        return Response({"data": token_records(rows), "total": total, "cursor": cursor, "tokensDeployed": total})
