"""What browsers may load for the operators' site: nothing from another host."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

# django-unfold's Alpine evaluates what stands in attributes, and its pages set styles, so that an injected script would
# run, and could send what it reads elsewhere by leading the browser there. What keeps a launcher's text from being one
# is that pages escape it. The policy keeps pages from loading from other hosts, from calling them, and out of frames.
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
