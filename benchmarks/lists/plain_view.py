"""The token list as a ModelSerializer and a CursorPagination give it: what the service's own list is compared with.

It has no total, no copies' warnings and no derived fields, so that it does less than the service's.
"""

from django.urls import path
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.serializers import ModelSerializer

from tokens.models import Token


class PlainSerializer(ModelSerializer[Token]):
    """All columns."""

    class Meta:
        model = Token
        fields = "__all__"


class PlainPagination(CursorPagination):
    """Ten tokens a page, newest first."""

    page_size = 10
    ordering = ("-deployed_at", "-id")


class PlainView(ListAPIView[Token]):
    """The tokens that public lists show."""

    queryset = Token.objects.listed()
    serializer_class = PlainSerializer
    pagination_class = PlainPagination


urlpatterns = [path("api/tokens", PlainView.as_view())]
