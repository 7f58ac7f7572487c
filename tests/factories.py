"""Rows for tests. What a test is about it says itself; the rest comes from here."""

import secrets
import string
from datetime import timedelta

import factory
from django.utils import timezone

from accounts.models import PartnerKey, PartnerKeySecret, Scope


class PartnerKeyFactory(factory.django.DjangoModelFactory[PartnerKey]):
    """A partner key's row without a secret; `keys.add_secret` or `keys.rotate` gives it one and returns the text."""

    class Meta:
        model = PartnerKey

    class Params:
        revoked = factory.Trait(revoked_at=factory.LazyFunction(timezone.now))
        expired = factory.Trait(expires_at=factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1)))

    name = factory.Sequence(lambda n: f"Partner {n}")
    scopes = factory.LazyFunction(lambda: [Scope.READ, Scope.INDEX])


class PartnerKeySecretFactory(factory.django.DjangoModelFactory[PartnerKeySecret]):
    """A secret whose text nobody knows."""

    class Meta:
        model = PartnerKeySecret

    partner_key = factory.SubFactory(PartnerKeyFactory)
    key_id = factory.LazyFunction(lambda: "".join(secrets.choice(string.ascii_letters) for _ in range(8)))
    digest = factory.LazyFunction(lambda: secrets.token_hex(32))
