"""Admin pages for callers, deployers and operators. Django finds them by importing this package."""

from accounts.admin import (
    administrator_pages,
    delivery_pages,
    operator_accounts,
    partner_key_pages,
    user_pages,
    webhook_pages,
)

__all__ = [
    "administrator_pages",
    "delivery_pages",
    "operator_accounts",
    "partner_key_pages",
    "user_pages",
    "webhook_pages",
]
