"""URL configuration; each app's file keeps the contract's order."""

from django.contrib import admin
from django.urls import include, path, re_path

from config.api.openapi_views import DocsView, OpenAPIView
from config.api.views import NoEndpointView
from config.mcp.views import MCPView
from config.site.assets import serve_asset
from config.site.languages import page_patterns
from config.web.routing import endpoint

# Here and not in every process: the pages load the views' libraries, too.
admin.autodiscover()

urlpatterns = [
    *page_patterns([path("", include("tokens.page_urls")), path("", include("leaderboard.page_urls"))]),
    path("", include("tokens.site.urls")),
    path("assets/<str:file_name>", serve_asset, name="asset"),
    path("", include("tokens.picture_urls")),
    path("api/feeds/", include("tokens.feeds.urls")),
    path("api/", include("tokens.urls")),
    path("api/", include("pretokens.urls")),
    path("api/", include("leaderboard.urls")),
    path("api/", include("accounts.urls")),
    endpoint("api/openapi.json", OpenAPIView.as_view(), name="openapi"),
    endpoint("api/docs", DocsView.as_view(), name="docs"),
    re_path(r"^api(?:/.*)?$", NoEndpointView.as_view()),
    endpoint("mcp", MCPView.as_view(), name="mcp"),
    path("admin/second-factor/", include("accounts.operators.urls")),
    path("admin/", admin.site.urls),
]

# Handlers for errors outside an API view; below /api/ they return the same error body.
handler400 = "config.api.error_handling.bad_request"
handler403 = "config.api.error_handling.forbidden"
handler404 = "config.api.error_handling.page_not_found"
handler500 = "config.api.error_handling.server_error"
