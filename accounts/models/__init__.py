"""Callers (partners, users, administrators) and deployers' social profiles."""

from accounts.models.partner_keys import (
    MAX_CALLS_PER_MINUTE,
    KeyState,
    KeyUsage,
    PartnerKey,
    PartnerKeyQuerySet,
    PartnerKeySecret,
    Scope,
    UsageBatch,
)
from accounts.models.profiles import SocialProfile
from accounts.models.users import (
    MAX_ISSUER,
    MAX_SUBJECT,
    Administrator,
    AdminSession,
    Identity,
    Person,
    SignInNonce,
    SubjectKind,
)
from accounts.models.webhooks import (
    DeliveryReason,
    DeliveryStatus,
    DisabledBy,
    EndpointState,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointQuerySet,
)

__all__ = [
    "MAX_CALLS_PER_MINUTE",
    "MAX_ISSUER",
    "MAX_SUBJECT",
    "AdminSession",
    "Administrator",
    "DeliveryReason",
    "DeliveryStatus",
    "DisabledBy",
    "EndpointState",
    "Identity",
    "KeyState",
    "KeyUsage",
    "PartnerKey",
    "PartnerKeyQuerySet",
    "PartnerKeySecret",
    "Person",
    "Scope",
    "SignInNonce",
    "SocialProfile",
    "SubjectKind",
    "UsageBatch",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEndpointQuerySet",
]
