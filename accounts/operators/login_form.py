"""Admin site log-in form."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from unfold.forms import AuthenticationForm

_MAX_NAME: int = User._meta.get_field("username").max_length or 0


class LoginForm(AuthenticationForm):
    """Log-in form that refuses names longer than any account has."""

    def clean_username(self) -> str:
        """Return the name. A longer one fits in no lockout column."""
        name: str = self.cleaned_data["username"]
        if len(name) > _MAX_NAME:
            raise ValidationError(f"A name has at most {_MAX_NAME} characters.")
        return name
