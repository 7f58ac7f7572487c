"""Settings of the admin log-in and its protection that no operator changes."""

BACKENDS = [
    # First: the password of a locked-out name is not checked.
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

# Target after a log-in that no page of ours started.
REDIRECT = "/admin/"

# Settings of django-axes besides the limit and the lock-out time.
LOCK_OUT = {
    # A name is locked out per address, so that no one can lock out others elsewhere.
    "AXES_LOCKOUT_PARAMETERS": [["username", "ip_address"]],
    # Attempts during a lock-out do not extend it.
    "AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT": False,
    "AXES_RESET_ON_SUCCESS": True,
    "AXES_CLIENT_IP_CALLABLE": "accounts.operators.lockout.login_address",
    "AXES_LOCKOUT_CALLABLE": "accounts.operators.lockout.lockout_response",
    # The access log would be kept for ever.
    "AXES_DISABLE_ACCESS_LOG": True,
    # Its pages show submitted data; `manage.py axes_reset_username` ends a lock-out early.
    "AXES_ENABLE_ADMIN": False,
    # No log line at each start. Failures are logged with their address; a name may be a password in the wrong field.
    "AXES_VERBOSE": False,
    "AXES_SENSITIVE_PARAMETERS": ["username"],
}

COOKIES = {
    "SESSION_COOKIE_HTTPONLY": True,
    # Links from other sites keep an operator logged in; forms from other sites do not.
    "SESSION_COOKIE_SAMESITE": "Lax",
    "CSRF_COOKIE_SAMESITE": "Lax",
}
