"""The operators' pages for what was launched. Django finds them by importing this package."""

from tokens.admin import events, following, index_requests, tokens

__all__ = ["events", "following", "index_requests", "tokens"]
