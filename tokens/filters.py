"""The filters of token lists, by the contract's parameter names."""

import re
from typing import Any

from django import forms
from django_filters import Filter, FilterSet

from config.api.fields import parse_address
from tokens.models import Token

MAX_FIDS = 100
_MAX_BIGINT = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,19}")


def _read_number(text: str, rule: str) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not 0 < number <= _MAX_BIGINT:
        raise forms.ValidationError(rule)
    return number


class NumberField(forms.CharField):
    """A positive whole number in ASCII digits."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return _read_number(text, f"must be a whole number from 1 to {_MAX_BIGINT}") if text else None


class NumbersField(forms.CharField):
    """Such numbers, separated by commas."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        parts = text.split(",")
        rule = f"must be 1 to {MAX_FIDS} whole numbers, separated by commas"
        if len(parts) > MAX_FIDS:
            raise forms.ValidationError(rule)
        return [_read_number(part.strip(), rule) for part in parts]


class WalletField(forms.CharField):
    """An EVM address in any case, or a base58 one."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return parse_address(text, allow_mint=True)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class NumberFilter(Filter):
    field_class = NumberField


class NumbersFilter(Filter):
    field_class = NumbersField


class WalletFilter(Filter):
    field_class = WalletField


class TokenFilter(FilterSet):
    """Which tokens a list holds: by chain, by deployer wallet, by requestor."""

    chainId = NumberFilter(field_name="chain_id", label="Chain id.")
    msgSender = WalletFilter(field_name="msg_sender", label="Deployer wallet.")
    fid = NumberFilter(field_name="requestor_fid", label="Requestor FID.")
    fids = NumbersFilter(field_name="requestor_fid", lookup_expr="in", label="Requestor FIDs, at most 100, by comma.")

    class Meta:
        model = Token
        fields: list[str] = []
