"""How people log in to the admin site, and how that is protected. None of it is an operator's choice."""

BACKENDS = [
    # First: whoever is locked out has no password looked at.
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]

_VALIDATORS = (
    "UserAttributeSimilarityValidator",
    "MinimumLengthValidator",
    "CommonPasswordValidator",
    "NumericPasswordValidator",
)
PASSWORD_VALIDATORS = [{"NAME": f"django.contrib.auth.password_validation.{name}"} for name in _VALIDATORS]

# Where who logs in ends, if no page of ours sent them.
REDIRECT = "/admin/"

# Settings of django-axes, beside the limit and its time.
LOCK_OUT = {
    # A name is locked out at the address that failed, and stays free elsewhere: nobody locks others out.
    "AXES_LOCKOUT_PARAMETERS": [["username", "ip_address"]],
    # Trying meanwhile makes it no longer.
    "AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT": False,
    "AXES_RESET_ON_SUCCESS": True,
    "AXES_CLIENT_IP_CALLABLE": "accounts.operators.lockout.address_of",
    "AXES_LOCKOUT_CALLABLE": "accounts.operators.lockout.refuse",
    # Who logged in from where would be kept for ever.
    "AXES_DISABLE_ACCESS_LOG": True,
    # Its pages show what was sent; `manage.py axes_reset_username` lets somebody in before time.
    "AXES_ENABLE_ADMIN": False,
    # No line at each start. Failures are logged with their address; a name may be a password in the wrong field.
    "AXES_VERBOSE": False,
    "AXES_SENSITIVE_PARAMETERS": ["username"],
}

COOKIES = {
    "SESSION_COOKIE_HTTPONLY": True,
    # Links from elsewhere find an operator logged in; forms from elsewhere don't.
    "SESSION_COOKIE_SAMESITE": "Lax",
    "CSRF_COOKIE_SAMESITE": "Lax",
}
