"""Keeps whoever has yet to show a second factor at the page that asks for it. The admin site alone is guarded."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django_otp.middleware import OTPMiddleware

from accounts.operators import second_factor

_GUARDED = "/admin/"
# Where to show or set it up, and where to become somebody else.
_OPEN = ("/admin/second-factor/", "/admin/login/", "/admin/logout/")


class SecondFactorMiddleware(OTPMiddleware):
    """Marks the users of the admin site as verified or not, and sends those on who have to be."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(self._guard)
        self._go_on = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(_GUARDED):
            return self._go_on(request)
        answer: HttpResponseBase = super().__call__(request)
        return answer

    def _guard(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(_OPEN) or not second_factor.is_missing(request.user):
            return self._go_on(request)
        address = reverse("second-factor")
        # What was sent is lost: nothing is done for who may be somebody else.
        if request.method == "GET":
            address += "?" + urlencode({"next": request.get_full_path()})
        return redirect(address)
