"""Pages for the second factor: enter a code, set up a device, remove it."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_otp import login
from django_otp.middleware import is_verified
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.operators import second_factor
from accounts.operators.second_factor import TooManyCodesError, WrongCodeError

_SET_UP, _ON, _ENTER = (f"accounts/second_factor_{page}.html" for page in ("set_up", "on", "enter"))


class StaffRequest(HttpRequest):
    """Request that `staff_member_required` has accepted."""

    user: User


@never_cache
@require_http_methods(["GET", "POST"])
@staff_member_required
def enter_code(request: StaffRequest) -> HttpResponse:
    """Show the code form; on POST verify the code and redirect to the requested page."""
    if is_verified(request.user) or not second_factor.has_device(request.user):
        return redirect("second-factor-set-up")
    next_url = request.POST.get("next") or request.GET.get("next", "")
    context = {"next": next_url}
    if request.method != "POST":
        return render(request, _ENTER, context)
    try:
        device = second_factor.verify_code(request.user, _code(request))
    except (WrongCodeError, TooManyCodesError) as error:
        return _render_code_error(request, error, template=_ENTER, context=context)
    _mark_verified(request, device)
    return redirect(next_url if url_has_allowed_host_and_scheme(next_url, allowed_hosts=None) else "admin:index")


@never_cache
@require_http_methods(["GET", "POST"])
@staff_member_required
def set_up_device(request: StaffRequest) -> HttpResponse:
    """Show a new device's secret, or that one is active; on POST verify the new device's first code."""
    if second_factor.has_device(request.user):
        if not is_verified(request.user):
            return redirect("second-factor")
        return render(request, _ON, _page(request))
    if request.method == "POST":
        try:
            device = second_factor.confirm_device(request.user, _code(request))
        except (WrongCodeError, TooManyCodesError) as error:
            return _render_code_error(request, error, template=_SET_UP, context=_new_device(request))
        _mark_verified(request, device)
        messages.success(request, "Each log-in now requires a code of your app.")
        return redirect("admin:index")
    return render(request, _SET_UP, _new_device(request))


@never_cache
@require_http_methods(["POST"])
@staff_member_required
def remove_device(request: StaffRequest) -> HttpResponse:
    """Remove the user's device after a valid code."""
    try:
        second_factor.remove_device(request.user, _code(request))
    except (WrongCodeError, TooManyCodesError) as error:
        return _render_code_error(request, error, template=_ON, context=_page(request))
    messages.success(request, "Your log-in no longer requires a code.")
    return redirect("second-factor-set-up")


def _code(request: StaffRequest) -> str:
    # Apps display codes in groups.
    return "".join(request.POST.get("code", "").split())


def _mark_verified(request: StaffRequest, device: TOTPDevice) -> None:
    # Session fixation: an id issued before the code was verified must not become a verified session.
    request.session.cycle_key()
    login(request, device)


def _render_code_error(
    request: StaffRequest, error: Exception, *, template: str, context: dict[str, Any]
) -> HttpResponse:
    if not isinstance(error, TooManyCodesError):
        text = "This code is wrong, or was used before. Wait for the next one."
        return render(request, template, context | {"error": text})
    text = f"Too many wrong codes. Try again in {error.seconds} s."
    response = render(request, template, context | {"error": text}, status=429)
    response.headers["Retry-After"] = str(error.seconds)
    return response


def _new_device(request: StaffRequest) -> dict[str, Any]:
    device = second_factor.pending_device(request.user)
    return _page(request) | {
        "qr_code": second_factor.qr_code(device),
        "secret": second_factor.secret_text(device),
    }


def _page(request: StaffRequest) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": "Second factor", "remove_url": reverse("second-factor-remove")}
