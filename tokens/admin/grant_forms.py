"""Limit forms, and their pages. To create or raise a limit, an operator enters a second-factor code."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.operators import second_factor
from accounts.operators.login_limits import TooManyAttemptsError, count_attempt
from accounts.operators.second_factor import TooManyCodesError, WrongCodeError

_WRONG = "Allowing more needs a current code that was not used before."


class GrantForm(forms.ModelForm):
    """Form for one limit. A session is not enough to raise it: a stolen session would spend coins."""

    # The limit's field name.
    limit: str
    # The page sets it.
    request: HttpRequest

    code = forms.CharField(
        label="Code of your second factor",
        required=False,
        max_length=12,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
        help_text="Required to allow more than now. A code is accepted once: after a log-in wait for the next one.",
    )

    def without_row(self) -> Any:
        """Return the limit that applies if no row sets one."""
        raise NotImplementedError

    def full_clean(self) -> None:
        """Check the code after everything else, since a code is accepted once."""
        super().full_clean()
        if self.is_bound and not self.errors and self.cleaned_data[self.limit] > self.allowed_before:
            self._check_code("".join(self.cleaned_data["code"].split()))

    @cached_property
    def allowed_before(self) -> Any:
        """Return the limit before the form is saved."""
        return self.without_row() if self.instance.pk is None else self.initial[self.limit]

    def _check_code(self, code: str) -> None:
        user = self.request.user
        if not isinstance(user, User) or not second_factor.has_device(user):
            self.add_error(None, "Allowing more needs a second factor: set one up by your name, below the navigation.")
            return
        if not code:
            # An empty code does not count as an attempt.
            self.add_error("code", _WRONG)
            return
        try:
            count_attempt(self.request)
            second_factor.verify_code(user, code)
        except WrongCodeError:
            self.add_error("code", _WRONG)
        except (TooManyCodesError, TooManyAttemptsError) as error:
            self.add_error("code", f"Too many codes. Try again in {error.seconds} s.")


class GrantAdmin(ModelAdmin):
    """Base class for pages with a GrantForm. The audit log has the limit before and after."""

    form: type[GrantForm]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """Return the form class for this request."""
        return type("Form", (super().get_form(request, obj, change, **options),), {"request": request})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the limit's fields, and the code field for operators who may change the limit."""
        may_save = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return (*self.limit_fields(obj), *(("code",) if may_save else ()))

    def limit_fields(self, obj: Any) -> tuple[str, ...]:
        """Return the row's fields, or a new row's."""
        raise NotImplementedError

    def construct_change_message(self, request: HttpRequest, form: GrantForm, formsets: Any, add: bool = False) -> str:
        """Return the audit log entry for an addition or a change."""
        name, after = form.fields[form.limit].label, form.cleaned_data[form.limit]
        return f"{name}: {_number(after)}, before {_number(form.allowed_before)}."


def _number(limit: Any) -> str:
    return f"{Decimal(limit).normalize():f}"
