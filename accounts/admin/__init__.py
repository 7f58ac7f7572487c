"""Admin pages for callers, deployers and operators. Django finds them by importing this package."""

from accounts.admin import administrator_pages, operator_accounts, partner_key_pages, user_pages
from accounts.admin.partner_key_pages import PartnerKeyForm

__all__ = [
    "PartnerKeyForm",
    "administrator_pages",
    "audit",
    "operator_accounts",
    "partner_key_pages",
    "profiles",
    "user_pages",
]
