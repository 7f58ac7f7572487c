"""Django's apps, middleware, templates and log-in; their order matters."""

from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.environment.model import Environment
from config.environment.variables import BASE_DIR

APPS = [
    # Before the admin, because it overrides the admin's site and templates.
    "unfold",
    "config.operators.apps.OperatorsAdminConfig",
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
    "config.events.apps.EventsConfig",
    "config.backups",
    "config.doctor",
    "accounts",
    "tokens",
    "pretokens",
    "leaderboard",
    "development",
]

# Apps from optional packages: the setting that adds one, its package, and the app.
_WATCHING = (
    ("SENTRY_DSN", "sentry_sdk", "config.watching.error_reports.ErrorReportsConfig"),
    ("TRACES_URL", "opentelemetry", "config.watching.traces.TracesConfig"),
)


def watching_apps(env: Environment) -> list[str]:
    """Return the apps that the environment adds. Raises ImproperlyConfigured without their packages."""
    watching = [(name, package, app) for name, package, app in _WATCHING if getattr(env, name)]
    for name, package, _ in watching:
        if find_spec(package) is None:
            raise ImproperlyConfigured(
                f"{name}: needs the packages of requirements-watching.txt, which are not installed"
            )
    return [app for *_, app in watching]


MIDDLEWARE = [
    "config.edge.request_record.note_route",
    # Before all others: probes use the IP address and plain HTTP.
    "config.watching.health.probe_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.api.cors.CrossOriginMiddleware",
    # Outside any middleware that may set cookies.
    "config.edge.representation.public_without_cookies",
    # Outside compression, so that a 304 has the 200's ETag and Vary.
    "config.edge.representation.conditional_get",
    "config.edge.representation.CompressionMiddleware",
    "config.operators.middleware.content_security_policy",
    "config.operators.neutral_pages.neutral_pages",
    "config.operators.local_times.operator_time_zone",
    "config.site.languages.page_language",
    "config.site.error_pages.refused_methods",
    "config.operators.middleware.PageSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.operators.login_limits.LoginLimitMiddleware",
    "config.operators.middleware.PageAuthenticationMiddleware",
    "accounts.operators.second_factor_middleware.SecondFactorMiddleware",
    "config.operators.middleware.PageMessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Renders a rejected log-in as a page; it passes other requests on.
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
                "config.site.context.site",
            ],
            "libraries": {
                "site_formats": "config.site.formats",
                "site_pictures": "tokens.site.pictures.picture_tags",
                "site_cards": "tokens.site.cards.card_tags",
                "local_times": "config.operators.local_times",
                "row_links": "config.operators.row_links",
            },
        },
    },
]

# Operator log-in.

AUTHENTICATION_BACKENDS = [
    # First: the password of a locked-out name is not checked.
    "axes.backends.AxesStandaloneBackend",
    "accounts.operators.passwords.PasswordBackend",
]
PASSWORD_HASHERS = [
    "accounts.operators.passwords.Argon2idHasher",
    # Hashes from earlier releases, until the next log-in.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
