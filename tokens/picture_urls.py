"""Picture and upload URLs, which are the same in all languages."""

from django.urls import path, re_path

from tokens.site.views.picture_views import token_picture
from tokens.uploads.views import stored_file

urlpatterns = [
    path("pictures/<int:chain_id>/<str:address>/<str:key>.webp", token_picture, name="token-picture"),
    # Another name, such as one with a NUL, reaches no query.
    re_path(r"^uploads/(?P<file_name>[0-9a-f]{64}\.[a-z]{4})\Z", stored_file, name="stored-upload"),
]
