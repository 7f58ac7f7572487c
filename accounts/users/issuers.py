"""Whose tokens are believed, by what they have as `iss`."""

from django.conf import settings

from config.settings.identities import Issuer


def find(name: str) -> Issuer | None:
    """The issuer of this `iss`, which is compared letter by letter; None for a stranger."""
    return next((issuer for issuer in settings.IDENTITY_ISSUERS if issuer.issuer == name), None)
