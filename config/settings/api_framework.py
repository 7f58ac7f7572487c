"""Settings for Django REST framework, drf-spectacular and django-cors-headers that no operator changes."""

# As in pyproject.toml.
SERVICE_VERSION = "0.2.0"

VIEWS = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["config.api.rendering.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.api.parsing.LimitedJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.api.rendering.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "config.api.openapi_schema.EndpointSchema",
    "DEFAULT_METADATA_CLASS": "config.api.rendering.NoMetadata",
    "EXCEPTION_HANDLER": "config.api.error_handling.exception_handler",
    "UNAUTHENTICATED_USER": None,
    # Serializers pass datetimes through; the renderer formats them.
    "DATETIME_FORMAT": None,
    # A query parameter named `format` does not select a renderer.
    "URL_FORMAT_OVERRIDE": None,
}

# Response headers that pages with another origin can read.
EXPOSED_HEADERS = (
    "Deprecation",
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "Warning",
    "X-Ignored-Params",
    "X-Last-Event-Id",
    "X-Request-ID",
    "X-Total-Approximate",
)

# Formatted with Solana's chain id.
ABOUT = """Tokens of token launchpads: listing, lookup and indexing over HTTP.

Addresses, pools and transactions of EVM chains are hex in any case. Those of Solana, whose `chainId` is {}, are base58
in their own case: a mint is a token's address, and a signature a transaction's hash.

A query parameter without a value counts as absent.
"""

# Operation tags by view package.
OPERATION_TAGS = {
    "tokens.catalogue": "tokens",
    "tokens.market": "tokens",
    "tokens.feeds": "feeds",
    "tokens.integrity": "tokens",
    "tokens.indexing": "tokens",
    "tokens.installation": "tokens",
    "tokens.fees": "fees",
    "tokens.ledger": "tokens",
    "tokens.deploying": "deploy",
    "tokens.uploads": "deploy",
    "tokens.transactions": "transactions",
    "pretokens": "users",
    "leaderboard": "leaderboard",
    "accounts.profiles": "users",
    "accounts.users": "users",
    "accounts.subscriptions": "events",
    "accounts.administrators": "operations",
    "tokens.site": "operations",
}

DESCRIPTION = {
    "TITLE": "Launchboard",
    "VERSION": SERVICE_VERSION,
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "TAGS": [
        {"name": "tokens", "description": "Listing, lookup, trending pools and indexing."},
        {"name": "feeds", "description": "Feeds for aggregators, off unless the operator enables them."},
        {"name": "fees", "description": "Locked liquidity, and uncollected and claimed fees."},
        {"name": "deploy", "description": "Deployment of tokens, claims of their airdrops, and uploads."},
        {
            "name": "transactions",
            "description": "Simulated calls for the callers' own wallets to sign.",
        },
        {"name": "users", "description": "Sign-in with a wallet, pending token configurations of users, and profiles."},
        {"name": "leaderboard", "description": "Rankings of agents, and the events behind them."},
        {"name": "events", "description": "Catch-up list of events, and webhooks."},
        {"name": "operations", "description": "States of chains, and sessions of administrators."},
    ],
    # URL files have the contract's order.
    "SORT_OPERATIONS": False,
    "SERVE_AUTHENTICATION": [],
    # All paths have this prefix.
    "SCHEMA_PATH_PREFIX": "/api/",
    # No authentication class uses it; the endpoints that accept it list it themselves.
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "adminSession": {
                "type": "apiKey",
                "in": "cookie",
                "name": "admin_session",
                "description": "Session of an administrator, created by POST /api/admin/verify.",
            }
        }
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.openapi_schema.describe_errors",
        "config.api.openapi_schema.describe_webhooks",
        "config.api.openapi_examples.add_examples",
    ],
    # Enumerations are named after their field; these belong to several fields, or had the name before other fields.
    "ENUM_NAME_OVERRIDES": {
        "PoolKind": ["standard", "project"],
        "FeesKind": ["static", "dynamic"],
        "RewardsTokenEnum": ["Both", "Paired", "Clanker"],
        "ReasonEnum": "accounts.models.DeliveryReason.values",
        "UnknownTradesReason": ["no_own_trades", "history_not_read", "no_trades", "no_price"],
        "EventTypeName": "accounts.subscriptions.endpoint_bodies.EVENT_NAMES",
    },
    # By default the page sends the description to a validator on the Internet.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
