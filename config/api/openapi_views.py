"""Views for the OpenAPI description and Swagger UI, both served from this host only."""

import functools
import threading
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.rendering import JSONRenderer, render_json
from config.web.response_headers import public_cache_control

# The generator shares state between its runs: two at a time fail.
_generating = threading.Lock()

# Only our own host. Swagger UI sets styles, renders small images from data URLs, and calls the API at the URL in the
# description.
_PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    f"connect-src 'self' {settings.SITE_URL}; frame-ancestors 'none'"
)


class OpenAPIView(APIView):
    """View for GET /api/openapi.json."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(
            openapi_document(), content_type="application/json", headers={"Cache-Control": public_cache_control(300)}
        )


class DocsView(SpectacularSwaggerSplitView):
    """View for GET /api/docs, in the site's page frame."""

    schema = None
    template_name = "site/api_docs.html"
    url_name = "openapi"
    http_method_names = ["get", "head"]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add Content-Security-Policy and Cache-Control, and leave out the form token: the page is public."""
        if "csrf_header_name" in response.data:
            response.data["csrf_token"] = ""
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
        response.headers.setdefault("Cache-Control", public_cache_control(300))
        return super().finalize_response(request, response, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Render errors as JSON, although this view renders a page."""
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().handle_exception(exc)


def openapi_document() -> bytes:
    """Return the description as JSON, generated once per process: it depends only on the code and the settings."""
    with _generating:
        return _generate()


@functools.cache
def _generate() -> bytes:
    return render_json(spectacular_settings.DEFAULT_GENERATOR_CLASS().get_schema(request=None, public=True))
