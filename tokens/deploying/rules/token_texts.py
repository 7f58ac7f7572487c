"""Rules for a token's on-chain texts: name, symbol, image, metadata, context."""

from typing import Any
from urllib.parse import urlsplit

from config.parsing import json_rules
from config.parsing.json_rules import MAX_URL, FieldRule, Rule, Schema, described, list_of, object_of, refined
from tokens.indexing.metadata import MAX_LINKS

MAX_NAME = 128
MAX_SYMBOL = 32
MAX_DESCRIPTION = 5_000
_MAX_WORD = 200
# The token contract stores its texts at about 700 gas a byte. With this many bytes a launch takes 12 million
# gas; a transaction's limit is 16.7 million (EIP-7825).
MAX_ON_CHAIN_BYTES = 8_192


def _page_address(*schemes: str) -> Rule:
    """Return the rule for a URL that pages can link to: browsers and our own client can open it."""

    @refined(json_rules.web_address(*schemes))
    def rule(url: str) -> str:
        try:
            parts = urlsplit(url)
            can_open = bool(parts.hostname) and parts.port != 0 and parts.username is None
        except ValueError:
            can_open = False
        if not can_open:
            raise ValueError("must be a URL with a host and a port that exist, without a user")
        return url

    return rule


_WEB = _page_address("http", "https")
_WEB_OR_IPFS = _page_address("http", "https", "ipfs")
_PAGE = object_of(
    {"platform": FieldRule(rule=json_rules.text(least=1, most=_MAX_WORD)), "url": FieldRule(rule=_WEB)},
    name="SocialPageShape",
)

_WEB_OR_IPFS_SCHEMA: Any = _WEB_OR_IPFS.schema
_IMAGE: Schema = {
    "type": "string",
    "maxLength": MAX_URL,
    "pattern": f"^$|{_WEB_OR_IPFS_SCHEMA['pattern']}",
    "description": "An http, https or ipfs URL.",
}


@described(_IMAGE)
def image(value: Any) -> str:
    """Parse an image URL; an empty text, which the SDK sends for none, is valid."""
    return "" if value == "" else str(_WEB_OR_IPFS(value))


@described({"oneOf": [_WEB.schema, _PAGE.schema]})
def social_page(value: Any) -> str | dict[str, str]:
    """Parse a project page: its URL, or an object that also names the platform. It is returned unchanged."""
    page: str | dict[str, str] = _WEB(value) if isinstance(value, str) else _PAGE(value)
    return page


name = json_rules.text(least=1, most=MAX_NAME)
symbol = json_rules.text(least=1, most=MAX_SYMBOL)

# In the SDK's order; absent keys are not written.
METADATA = {
    "description": FieldRule(rule=json_rules.text(most=MAX_DESCRIPTION), default=None),
    "socialMediaUrls": FieldRule(
        rule=list_of(social_page, most=MAX_LINKS),
        default=None,
        description="http or https URLs, or objects that also name the platform.",
    ),
    "auditUrls": FieldRule(
        rule=list_of(_WEB_OR_IPFS, most=MAX_LINKS), default=None, description="http, https or ipfs URLs."
    ),
}
CONTEXT = {
    key: FieldRule(rule=json_rules.text(most=_MAX_WORD), default=None)
    for key in ("interface", "platform", "messageId", "id")
}
context = object_of(CONTEXT, name="ContextShape", description="Origin of the request for the token.")
