"""URLs of pictures and uploads, which are the same in all languages."""

from django.urls import path

from tokens.site.views.picture_views import token_picture
from tokens.uploads.views import stored_file

urlpatterns = [
    path("pictures/<int:chain_id>/<str:address>/<str:key>.webp", token_picture, name="token-picture"),
    path("uploads/<str:file_name>", stored_file, name="stored-upload"),
]
