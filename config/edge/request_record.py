"""Record of an HTTP request at the edge: its id, and what is counted of it for metrics.

The bridge makes it and Django's middleware adds the route; both share it by the WSGI environment, of which the cache in
front of Django makes copies.
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

# Routes of requests that no URL pattern serves, by the beginning of their path.
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
        """Count the request and its duration. The labels are routes of the code, never paths."""
        add_to_sum(("requests", self.route, str(status)))
        add_to_histogram("request_seconds", self.route, seconds=time.monotonic() - self.begun)


def note_route(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that notes the URL pattern of each request; all pages of the admin site have one name."""

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
