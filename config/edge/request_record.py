"""HTTP request record at the edge: the request id, and what metrics count.

The bridge creates it and Django's middleware adds the route. Both share it through the WSGI environment, because the
cache in front of Django copies the environment.
"""

import threading
import time
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.http.process_sums import add_to_histogram, add_to_sum
from config.http.request_ids import accept_request_id

# Its name in the environment.
RECORD = "launchboard.request"

# Routes for requests that no URL pattern serves, by path prefix.
_UNROUTED = {"/static/": "static", "/healthz": "probes", "/readyz": "probes", "/metrics": "probes"}
_NONE = "none"


class RequestRecord:
    """One request. Its time begins when the application could run, since a client may send its body slowly."""

    __slots__ = ("_unsent", "begun", "request_id", "route")

    def __init__(self, request_id: str) -> None:
        """Accept the id that the client sent, or make one."""
        self.request_id = accept_request_id(request_id)
        self.route = _NONE
        self.begun = time.monotonic()
        self._unsent = threading.Lock()

    def claim_response(self) -> bool:
        """Return whether the caller may send the response: true once, for whichever thread comes first."""
        return self._unsent.acquire(blocking=False)

    def count(self, status: int) -> None:
        """Count the request and its duration. The labels are routes in the code, never paths."""
        add_to_sum(("requests", self.route, str(status)))
        add_to_histogram("request_seconds", self.route, seconds=time.monotonic() - self.begun)


def note_route(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that notes each request's URL pattern; all admin pages have one name."""

    def note(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        record = request.META.get(RECORD)
        if record is not None:
            record.route = _route(request)
        return response

    return note


def _route(request: HttpRequest) -> str:
    match, path = request.resolver_match, request.path_info
    if match is not None:
        return "admin" if match.route.startswith("admin/") else match.route
    return next((name for start, name in _UNROUTED.items() if path.startswith(start)), _NONE)
