"""The operators' pages for what was launched. Django finds them by importing this package."""

from tokens.admin import index_requests, tokens

__all__ = ["index_requests", "tokens"]
