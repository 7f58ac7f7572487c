"""What a token says of itself: the texts that go on chain, and the rules for what they are made of."""

import json
from collections.abc import Mapping
from typing import Any

from config.json_rules import Key, list_of, object_of
from tokens.deploying.rules import scalars
from tokens.indexing.metadata import MAX_LINKS

MAX_NAME = 128
MAX_SYMBOL = 32
MAX_DESCRIPTION = 5_000
_MAX_WORD = 200
# The token contract stores its texts, at some 700 gas a byte. With this many a launch takes 12 of the 16.7 million gas
# that a transaction may (EIP-7825).
MAX_ON_CHAIN_BYTES = 8_192

_WEB = scalars.web_address("http", "https")
_WEB_OR_IPFS = scalars.web_address("http", "https", "ipfs")
_PAGE = object_of({"platform": Key(rule=scalars.text(least=1, most=_MAX_WORD)), "url": Key(rule=_WEB)})


def image(value: Any) -> str:
    """The URL of a picture, or an empty text for none, as the SDK sends it."""
    return "" if value == "" else str(_WEB_OR_IPFS(value))


def social_page(value: Any) -> str | dict[str, str]:
    """A page of the project: its URL, or an object that names the platform, too. Kept as it is."""
    page: str | dict[str, str] = _WEB(value) if isinstance(value, str) else _PAGE(value)
    return page


name = scalars.text(least=1, most=MAX_NAME)
symbol = scalars.text(least=1, most=MAX_SYMBOL)

# In the order in which the SDK writes them; those that are absent are not written.
METADATA = {
    "description": Key(rule=scalars.text(most=MAX_DESCRIPTION), default=None),
    "socialMediaUrls": Key(rule=list_of(social_page, most=MAX_LINKS), default=None),
    "auditUrls": Key(rule=list_of(_WEB_OR_IPFS, most=MAX_LINKS), default=None),
}
CONTEXT = {
    key: Key(rule=scalars.text(most=_MAX_WORD), default=None) for key in ("interface", "platform", "messageId", "id")
}
context = object_of(CONTEXT)


def on_chain_json(given: Mapping[str, Any]) -> str:
    """What JavaScript's JSON.stringify makes of the keys that have a value; the empty text where none has one."""
    present = {key: value for key, value in given.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")) if present else ""


def show(given: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata in the keys that METADATA has, as JSON; null for what was not given."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}


def check_length(*texts: str) -> None:
    """Raise ValueError where the texts that a token keeps on chain are too long together."""
    if sum(len(text.encode()) for text in texts) > MAX_ON_CHAIN_BYTES:
        raise ValueError(
            f"must have at most {MAX_ON_CHAIN_BYTES} bytes of UTF-8 in name, symbol, image, metadata and context"
            " together, since all of it is stored on chain"
        )
