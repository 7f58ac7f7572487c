"""The operators' pages for who calls, who deploys and who operates. Django finds them by importing this package."""

from accounts.admin import administrators, audit, partner_keys, profiles, staff, users
from accounts.admin.partner_keys import PartnerKeyForm

__all__ = ["PartnerKeyForm", "administrators", "audit", "partner_keys", "profiles", "staff", "users"]
