"""URLs of the public pages."""

from django.urls import path

from config.api.routing import endpoint
from tokens.site.views.home_page import home
from tokens.site.views.token_page import token_page

urlpatterns = [
    path("", home, name="home"),
    endpoint("tokens/<int:chain_id>/<str:address>", token_page, name="token-page"),
]
