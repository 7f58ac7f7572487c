"""The pages of the second factor: where it is asked for, set up and removed, each by the one who has it."""

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
from accounts.operators.second_factor import TooManyCodes, WrongCode

_SET_UP, _ON, _ASK = (f"accounts/second_factor_{page}.html" for page in ("set_up", "on", "ask"))


class StaffRequest(HttpRequest):
    """A request that `staff_member_required` lets pass."""

    user: User


@never_cache
@require_http_methods(["GET", "POST"])
@staff_member_required
def ask(request: StaffRequest) -> HttpResponse:
    """GET asks for a code; POST takes it, and goes on to where the user wanted to."""
    if is_verified(request.user) or not second_factor.has_device(request.user):
        return redirect("second-factor-set-up")
    wanted = request.POST.get("next") or request.GET.get("next", "")
    context = {"next": wanted}
    if request.method != "POST":
        return render(request, _ASK, context)
    try:
        device = second_factor.verify(request.user, _code(request))
    except (WrongCode, TooManyCodes) as error:
        return _refuse(request, error, template=_ASK, context=context)
    _remember(request, device)
    return redirect(wanted if url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) else "admin:index")


@never_cache
@require_http_methods(["GET", "POST"])
@staff_member_required
def set_up(request: StaffRequest) -> HttpResponse:
    """GET shows a new device's secret, or that there is one already; POST takes the new one's first code."""
    if second_factor.has_device(request.user):
        if not is_verified(request.user):
            return redirect("second-factor")
        return render(request, _ON, _page(request))
    if request.method == "POST":
        try:
            device = second_factor.confirm(request.user, _code(request))
        except (WrongCode, TooManyCodes) as error:
            return _refuse(request, error, template=_SET_UP, context=_new_device(request))
        _remember(request, device)
        messages.success(request, "From now on each log-in asks for a code of your app.")
        return redirect("admin:index")
    return render(request, _SET_UP, _new_device(request))


@never_cache
@require_http_methods(["POST"])
@staff_member_required
def remove(request: StaffRequest) -> HttpResponse:
    """Removes the user's device, for one of its codes."""
    try:
        second_factor.remove(request.user, _code(request))
    except (WrongCode, TooManyCodes) as error:
        return _refuse(request, error, template=_ON, context=_page(request))
    messages.success(request, "Your log-in asks for no code any more.")
    return redirect("second-factor-set-up")


def _code(request: StaffRequest) -> str:
    # Apps show it in groups.
    return "".join(request.POST.get("code", "").split())


def _remember(request: StaffRequest, device: TOTPDevice) -> None:
    # Whoever knows the session of before has nothing of what it may now.
    request.session.cycle_key()
    login(request, device)


def _refuse(request: StaffRequest, error: Exception, *, template: str, context: dict[str, Any]) -> HttpResponse:
    if not isinstance(error, TooManyCodes):
        said = "This code is wrong, or was used before. Wait for the next one."
        return render(request, template, context | {"error": said})
    said = f"No code is taken for {error.seconds} s, since there were wrong ones."
    answer = render(request, template, context | {"error": said}, status=429)
    answer.headers["Retry-After"] = str(error.seconds)
    return answer


def _new_device(request: StaffRequest) -> dict[str, Any]:
    device = second_factor.new_device(request.user)
    return _page(request) | {
        "qr_code": second_factor.qr_code(device),
        "secret": second_factor.secret_text(device),
    }


def _page(request: StaffRequest) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": "Second factor", "remove_url": reverse("second-factor-remove")}
