"""The operators' pages for what was launched. Django finds them by importing this package."""

from tokens.admin import events, index_requests, tokens

__all__ = ["events", "index_requests", "tokens"]
