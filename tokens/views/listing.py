"""Lists of tokens."""

from config.api.caching import shared_for
from config.api.pagination import page
from config.api.views import QueryView
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tokens.filters import TokenFilter
from tokens.models import Token
from tokens.serializers import ListQuery, TokenListAnswer, TokenRecordSerializer


class TokenListView(QueryView):
    """Newest tokens first, or oldest; blocked tokens are in no list."""

    query_serializer = ListQuery
    filterset_class = TokenFilter
    cache_control = shared_for(2)

    @extend_schema(operation_id="listTokens", responses={200: TokenListAnswer})
    def get(self, request: Request) -> Response:
        """List tokens."""
        tokens = self.filtered(Token.objects.listed())
        rows, cursor = page(
            tokens.with_copies(),
            sort_by="deployed-at",
            field="deployed_at",
            descending=self.query["sort"] == "desc",
            limit=self.query["limit"],
            cursor_text=self.query.get("cursor"),
        )
        total = tokens.count()
        data = TokenRecordSerializer(rows, many=True).data
        # Every filter there is so far is an identity filter, so that both counts are one.
        return Response({"data": data, "total": total, "cursor": cursor, "tokensDeployed": total})
