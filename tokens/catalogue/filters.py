"""The filters of token lists, by the contract's parameter names.

The fields check what callers send as it came: only texts may have blanks around them. Each has a `shape`, the JSON
Schema of what it takes, from which OpenAPI describes the parameter.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from django import forms
from django.db.models import BigIntegerField, QuerySet, Value
from django.db.models.functions import Cast
from django_filters import Filter, FilterSet

from config.api.fields import (
    ADDRESS_OR_MINT_SHAPE,
    FLAG_SHAPE,
    POOL_SHAPE,
    Shape,
    parse_address,
    parse_flag,
    parse_pool_address,
)
from tokens.catalogue import text_search as search
from tokens.models import Token
from tokens.models.querysets import LONGEST_INTERFACE, SearchEntryQuerySet, TokenQuerySet

# Search entries have what filters ask for in columns of the same names.
Filtered = TypeVar("Filtered", TokenQuerySet, SearchEntryQuerySet)

MAX_FIDS = 100
_MAX_PAIR = 100
# The last second of the year 9999.
_LAST_SECOND = 253_402_300_799
_MAX_BIGINT = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,19}")


def _read_number(text: str, rule: str) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not 0 < number <= _MAX_BIGINT:
        raise forms.ValidationError(rule)
    return number


class ExactField(forms.CharField):
    """Text in which blanks count."""

    shape: Shape

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)


class NumberField(ExactField):
    """A positive whole number in ASCII digits."""

    shape: Shape = {"type": "integer", "format": "int64", "minimum": 1, "maximum": _MAX_BIGINT}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return _read_number(text, f"must be a whole number from 1 to {_MAX_BIGINT}") if text else None


class NumbersField(ExactField):
    """Such numbers, separated by commas."""

    shape: Shape = {"type": "array", "items": NumberField.shape, "minItems": 1, "maxItems": MAX_FIDS}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        parts = text.split(",")
        rule = f"must be 1 to {MAX_FIDS} whole numbers, separated by commas"
        if len(parts) > MAX_FIDS:
            raise forms.ValidationError(rule)
        return [_read_number(part, rule) for part in parts]


class TextField(ExactField):
    """Text of at most so many characters and no NUL; blanks around it mean nothing.

    Blanks alone are refused, or, with `may_be_blank`, no value.
    """

    def __init__(self, *, longest: int, may_be_blank: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.longest = longest
        self.may_be_blank = may_be_blank
        pattern = r"^[^\x00]*$" if may_be_blank else r"^[^\x00]*[^\s\x00][^\x00]*$"
        self.shape = {"type": "string", "maxLength": longest, "pattern": pattern}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        if len(text) > self.longest:
            raise forms.ValidationError(f"must have at most {self.longest} characters")
        if text.isspace() and not self.may_be_blank:
            raise forms.ValidationError("must not be blank")
        return text.strip() or None


class MomentField(ExactField):
    """Unix seconds."""

    shape: Shape = {"type": "integer", "format": "int64", "minimum": 0, "maximum": _LAST_SECOND}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        if not _NUMBER.fullmatch(text) or int(text) > _LAST_SECOND:
            raise forms.ValidationError(f"must be Unix seconds, a whole number from 0 to {_LAST_SECOND}")
        return datetime.fromtimestamp(int(text), UTC)


class ReadField(ExactField):
    """Text of a shape that a function reads, which raises ValueError with the rule."""

    def __init__(self, *, read: Callable[[str], Any], shape: Shape, **options: Any) -> None:
        super().__init__(**options)
        self.read = read
        self.shape = shape

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return self.read(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


def read_wallet(text: str) -> str:
    """An EVM address in any case, or a base58 one."""
    return parse_address(text, allow_mint=True)


def _as_bigint(number: int) -> Cast:
    """The number in its column's type: PostgreSQL's GIN indexes compare with no other."""
    return Cast(Value(number), BigIntegerField())


class NumberFilter(Filter):
    field_class = NumberField

    def filter(self, qs: "QuerySet[Any, Any]", value: int | None) -> Any:
        return qs if value is None else super().filter(qs, _as_bigint(value))


class NumbersFilter(Filter):
    field_class = NumbersField

    def filter(self, qs: "QuerySet[Any, Any]", value: list[int] | None) -> Any:
        return qs if value is None else super().filter(qs, [_as_bigint(number) for number in value])


class TextFilter(Filter):
    field_class = TextField


class MomentFilter(Filter):
    field_class = MomentField


class ReadFilter(Filter):
    field_class = ReadField


class WalletFilter(ReadFilter):
    def __init__(self, **options: Any) -> None:
        super().__init__(read=read_wallet, shape=ADDRESS_OR_MINT_SHAPE, **options)


class ListFilter(FilterSet):
    """What the filter sets of token lists share."""

    class Meta:
        model = Token
        fields: list[str] = []

    def search(self, tokens: TokenQuerySet, name: str, value: str) -> TokenQuerySet:
        """What is named by an address or hash, or has the text in its name or symbol."""
        found, exact = search.text_match(value), search.exact_match(value)
        return tokens.filter(found if exact is None else exact | found)


class TokenFilter(ListFilter):
    """Which tokens a list holds."""

    q = TextFilter(
        method="search",
        longest=search.LONGEST,
        # What a search box sends that was left empty.
        may_be_blank=True,
        label="Part of a name or symbol in any case; or, whole, an address or mint, a pool, a transaction's hash or "
        "signature, of which those in base58 are found in their own case alone.",
    )
    fid = NumberFilter(field_name="requestor_fid", label="Requestor FID.")
    fids = NumbersFilter(field_name="requestor_fid", lookup_expr="in", label="Requestor FIDs, at most 100, by comma.")
    msgSender = WalletFilter(field_name="msg_sender", label="Deployer wallet.")
    pairAddress = ReadFilter(
        method="in_pool_or_paired_with",
        # Paired tokens are written as pools are.
        read=parse_pool_address,
        shape=POOL_SHAPE,
        label="Pool address or id, or paired token.",
    )
    pair = TextFilter(
        method="paired", longest=_MAX_PAIR, label="Symbol of the paired token in any case; all is no filter."
    )
    socialInterface = TextFilter(
        method="launched_by_interface", longest=LONGEST_INTERFACE, label="Interface of the launch, in any case."
    )
    startDate = MomentFilter(field_name="deployed_at", lookup_expr="gt", label="Launched after these Unix seconds.")
    champagne = ReadFilter(method="only_champagne", read=parse_flag, shape=FLAG_SHAPE, label="Champagne tokens alone.")
    chainId = NumberFilter(field_name="chain_id", label="Chain id.")

    def in_pool_or_paired_with(self, tokens: Filtered, name: str, value: str) -> Filtered:
        return tokens.in_pool_or_paired_with(value)

    def paired(self, tokens: Filtered, name: str, value: str) -> Filtered:
        return tokens if value.lower() == "all" else tokens.paired(value)

    def launched_by_interface(self, tokens: Filtered, name: str, value: str) -> Filtered:
        return tokens.launched_by_interface(value)

    def only_champagne(self, tokens: Filtered, name: str, value: bool) -> Filtered:
        return tokens.filter(champagne=True) if value else tokens


class SearchFilter(ListFilter):
    """What the deprecated search takes."""

    q = TokenFilter.base_filters["q"]
    fids = TokenFilter.base_filters["fids"]


class DeployedByFidFilter(ListFilter):
    """The tokens that one user asked for."""

    fid = NumberFilter(field_name="requestor_fid", required=True, label="Requestor FID.")


class DeployedByAddressFilter(ListFilter):
    """The tokens that a wallet sent or asked for."""

    address = WalletFilter(method="deployed_by", required=True, label="Sender or requestor.")

    def deployed_by(self, tokens: TokenQuerySet, name: str, value: str) -> TokenQuerySet:
        return tokens.deployed_by(value)


class AdminFilter(ListFilter):
    """The tokens that a wallet administers."""

    admin = WalletFilter(field_name="admin", required=True, label="The tokens' admin as it is now.")
    chainId = TokenFilter.base_filters["chainId"]


FILTER_SETS: dict[str, type[ListFilter]] = {
    filter_set.__name__: filter_set
    for filter_set in (TokenFilter, SearchFilter, DeployedByFidFilter, DeployedByAddressFilter, AdminFilter)
}

# They say whose tokens are listed, or on which chain.
IDENTITY_FILTERS = frozenset({"fid", "fids", "msgSender", "chainId"})
