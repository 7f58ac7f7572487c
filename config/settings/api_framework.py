"""How Django REST framework, drf-spectacular and django-cors-headers are set up. None of it is an operator's choice."""

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
    # Serializers hand datetimes on as they are, and the renderer writes them.
    "DATETIME_FORMAT": None,
    # A query parameter called `format` is no wish for another renderer.
    "URL_FORMAT_OVERRIDE": None,
}

# With Solana's chain id.
ABOUT = """Tokens of token launchpads: listing, lookup and indexing over HTTP.

Addresses, pools and transactions of EVM chains are hex in any case. Those of Solana, whose `chainId` is {}, are base58
in their own case: a mint is a token's address, and a signature a transaction's hash.
"""

DESCRIPTION = {
    "TITLE": "Launchboard",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    # The order of the URL files, which is the contract's.
    "SORT_OPERATIONS": False,
    "SERVE_AUTHENTICATION": [],
    # Endpoints are grouped by the part of the path after this one.
    "SCHEMA_PATH_PREFIX": "/api/",
    # No authentication class reads it: the endpoints that do name it themselves.
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "adminSession": {
                "type": "apiKey",
                "in": "cookie",
                "name": "admin_session",
                "description": "An administrator's session, which POST /api/admin/verify begins.",
            }
        }
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.openapi_schema.describe_errors",
    ],
    # What has choices is named after its field; these are behind several.
    "ENUM_NAME_OVERRIDES": {"PoolKind": ["standard", "project"], "FeesKind": ["static", "dynamic"]},
    # The page's default is to send the description to a validator on the Internet.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

CROSS_ORIGIN = {
    "CORS_URLS_REGEX": r"^/api/",
    "CORS_ALLOW_METHODS": ("DELETE", "GET", "HEAD", "POST"),
    "CORS_ALLOW_HEADERS": ("authorization", "content-type", "x-api-key"),
    # How many seconds browsers remember what they may; an origin that is taken from the list keeps for as long what it
    # had.
    "CORS_PREFLIGHT_MAX_AGE": 600,
    "CORS_EXPOSE_HEADERS": (
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
        "X-Total-Approximate",
    ),
}
