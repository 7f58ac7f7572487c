"""The OpenAPI description and a page to browse it, both from this host alone."""

import functools
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.rendering import JSONRenderer, render_json
from config.api.response_headers import shared_for

# Our own host for everything; Swagger UI sets styles, draws small images from data addresses, and tries the API at the
# address that the description names.
_PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    f"connect-src 'self' {settings.SITE_URL}; frame-ancestors 'none'"
)


class OpenAPIView(APIView):
    """GET /api/openapi.json"""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(
            openapi_document(), content_type="application/json", headers={"Cache-Control": shared_for(300)}
        )


class DocsView(SpectacularSwaggerSplitView):
    """GET /api/docs"""

    schema = None
    url_name = "openapi"
    http_method_names = ["get", "head"]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add what the browser may load, and how long caches keep the page."""
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
        response.headers.setdefault("Cache-Control", shared_for(300))
        return super().finalize_response(request, response, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Errors are JSON here too, although this view renders a page."""
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().handle_exception(exc)


@functools.cache
def openapi_document() -> bytes:
    """The description as JSON; made once per process, since it depends on nothing but the code and the settings."""
    return render_json(spectacular_settings.DEFAULT_GENERATOR_CLASS().get_schema(request=None, public=True))
