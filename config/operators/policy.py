"""What browsers may load for the operators' site: nothing from another host, whatever a page comes to hold."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

# django-unfold's Alpine evaluates what stands in attributes, and its pages set styles. A launcher's text is escaped on
# them; should that ever fail, it still reaches no other host.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def add_policy(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path_info.startswith("/admin/"):
            response.headers["Content-Security-Policy"] = POLICY
        return response

    return answer
