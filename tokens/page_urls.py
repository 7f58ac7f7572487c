"""URLs of the public pages."""

from django.urls import path

from config.api.routing import endpoint
from tokens.catalogue.public_pages import home, token_page

urlpatterns = [
    path("", home, name="home"),
    endpoint("tokens/<int:chain_id>/<str:address>", token_page, name="token-page"),
]
