"""URLs of pictures, which are the same in all languages."""

from django.urls import path

from tokens.site.views.picture_views import token_picture

urlpatterns = [
    path("pictures/<int:chain_id>/<str:address>/<str:key>.webp", token_picture, name="token-picture"),
]
