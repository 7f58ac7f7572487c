"""The service's addresses; the contract's order is kept inside each app's file."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/", include("tokens.urls")),
    path("admin/", admin.site.urls),
]
