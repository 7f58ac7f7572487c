"""URLs of pictures and share cards, which are the same in all languages."""

from django.urls import path

from tokens.site.views.picture_views import token_card, token_picture

urlpatterns = [
    path("pictures/<int:chain_id>/<str:address>/<str:key>.webp", token_picture, name="token-picture"),
    path("cards/<int:chain_id>/<str:address>.png", token_card, name="token-card"),
]
