"""What the Django project is made of: apps, middleware and templates, in the order that counts."""

from typing import Any

from config.environment.variables import BASE_DIR

APPS = [
    # Before the admin, whose site and templates it replaces.
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    # Index expressions with operator classes.
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "corsheaders",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "accounts",
    "tokens",
    "pretokens",
    "leaderboard",
    "development",
]

MIDDLEWARE = [
    # First: probes come by address and in plain HTTP.
    "config.api.health.answer_probes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.api.cors.CrossOriginMiddleware",
    # Around the one that compresses, so that a 304 has the ETag and the Vary of the 200.
    "config.edge.representation.answer_conditions",
    "config.edge.representation.CompressionMiddleware",
    "config.operators.middleware.add_policy",
    "config.operators.middleware.PageSessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.operators.middleware.PageAuthentication",
    "accounts.operators.second_factor_middleware.SecondFactorMiddleware",
    "config.operators.middleware.PageMessages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Turns what a log-in was refused for into a page; other requests it passes on.
    "axes.middleware.AxesMiddleware",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
