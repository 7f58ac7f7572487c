"""Middleware that redirects admin users without a verified second factor. Other paths are not affected."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django_otp.middleware import OTPMiddleware

from accounts.operators import second_factor

_GUARDED = "/admin/"
# Where to enter a code or set up a device, and where to change accounts.
_OPEN = ("/admin/second-factor/", "/admin/login/", "/admin/logout/")


class SecondFactorMiddleware(OTPMiddleware):
    """OTP middleware for the admin site that redirects users without a verified code to the code form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(self._guard)
        self._go_on = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(_GUARDED):
            return self._go_on(request)
        response: HttpResponseBase = super().__call__(request)
        return response

    def _guard(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(_OPEN) or not second_factor.is_second_factor_missing(request.user):
            return self._go_on(request)
        url = reverse("second-factor")
        # A POST body is lost: nothing is done for an unverified user.
        if request.method == "GET":
            url += "?" + urlencode({"next": request.get_full_path()})
        return redirect(url)
