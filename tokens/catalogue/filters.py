"""Filter sets of token lists, by the contract's parameter names.

Fields validate parameters as sent: only texts may have surrounding blanks. Each field has a `shape`, the JSON Schema of
its values, from which the OpenAPI description is generated.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from django import forms
from django.db.models import BigIntegerField, QuerySet, Value
from django.db.models.functions import Cast
from django_filters import Filter, FilterSet

from config.json_rules import FLAG_SHAPE, parse_flag
from tokens.catalogue import text_search
from tokens.chains.addresses import ADDRESS_OR_MINT_SHAPE, POOL_SHAPE, parse_address, parse_pool_address
from tokens.models import Token
from tokens.models.expressions import MAX_INTERFACE_LENGTH
from tokens.models.search_entry import SearchEntryQuerySet
from tokens.models.token import TokenQuerySet

# Search entries have the filtered columns of tokens under the same names.
Filtered = TypeVar("Filtered", TokenQuerySet, SearchEntryQuerySet)

# JSON Schema of a parameter.
Shape = dict[str, Any]

MAX_FIDS = 100
_MAX_PAIR = 100
# The last second of the year 9999.
_LAST_SECOND = 253_402_300_799
_MAX_BIGINT = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,19}")


def _parse_number(text: str, rule: str) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not 0 < number <= _MAX_BIGINT:
        raise forms.ValidationError(rule)
    return number


class ExactField(forms.CharField):
    """Text with significant blanks."""

    shape: Shape

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)


class NumberField(ExactField):
    """A positive whole number in ASCII digits."""

    shape: Shape = {"type": "integer", "format": "int64", "minimum": 1, "maximum": _MAX_BIGINT}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return _parse_number(text, f"must be a whole number from 1 to {_MAX_BIGINT}") if text else None


class NumbersField(ExactField):
    """Comma-separated list of positive whole numbers."""

    shape: Shape = {"type": "array", "items": NumberField.shape, "minItems": 1, "maxItems": MAX_FIDS}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        parts = text.split(",")
        rule = f"must be 1 to {MAX_FIDS} whole numbers, separated by commas"
        if len(parts) > MAX_FIDS:
            raise forms.ValidationError(rule)
        return [_parse_number(part, rule) for part in parts]


class TextField(ExactField):
    """Text of at most `longest` characters without NUL; surrounding blanks are ignored.

    A blank text is rejected, or ignored with `may_be_blank`.
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


class UnixTimeField(ExactField):
    """Unix seconds."""

    shape: Shape = {"type": "integer", "format": "int64", "minimum": 0, "maximum": _LAST_SECOND}

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        if not _NUMBER.fullmatch(text) or int(text) > _LAST_SECOND:
            raise forms.ValidationError(f"must be Unix seconds, a whole number from 0 to {_LAST_SECOND}")
        return datetime.fromtimestamp(int(text), UTC)


class ParsedField(ExactField):
    """Text with a parser, which raises ValueError with the rule."""

    def __init__(self, *, parse: Callable[[str], Any], shape: Shape, **options: Any) -> None:
        super().__init__(**options)
        self.parse = parse
        self.shape = shape

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return self.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


def parse_wallet(text: str) -> str:
    """Parse an EVM address in any case, or a base58 one. Raises ValueError."""
    return parse_address(text, allow_mint=True)


def _as_bigint(number: int) -> Cast:
    """Cast a number to its column's type, which PostgreSQL's GIN indexes require."""
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


class UnixTimeFilter(Filter):
    field_class = UnixTimeField


class ParsedFilter(Filter):
    field_class = ParsedField


class WalletFilter(ParsedFilter):
    def __init__(self, **options: Any) -> None:
        super().__init__(parse=parse_wallet, shape=ADDRESS_OR_MINT_SHAPE, **options)


class ListFilter(FilterSet):
    """Base of the filter sets of token lists."""

    class Meta:
        model = Token
        fields: list[str] = []

    def search(self, tokens: TokenQuerySet, name: str, value: str) -> TokenQuerySet:
        """Return the tokens with this address or hash, or with the text in their name or symbol."""
        found, exact = text_search.text_match(value), text_search.exact_match(value)
        return tokens.filter(found if exact is None else exact | found)


class TokenFilter(ListFilter):
    """Filters of the token lists."""

    q = TextFilter(
        method="search",
        longest=text_search.MAX_QUERY_LENGTH,
        # An empty search box sends blanks.
        may_be_blank=True,
        label="Part of a name or symbol in any case; or a whole address, mint, pool, transaction hash or signature. "
        "Base58 is case-sensitive.",
    )
    fid = NumberFilter(field_name="requestor_fid", label="Requestor FID.")
    fids = NumbersFilter(field_name="requestor_fid", lookup_expr="in", label="Requestor FIDs, at most 100, by comma.")
    msgSender = WalletFilter(field_name="msg_sender", label="Deployer wallet.")
    pairAddress = ParsedFilter(
        method="in_pool_or_paired_with",
        # Addresses of paired tokens have the format of pools.
        parse=parse_pool_address,
        shape=POOL_SHAPE,
        label="Pool address or id, or paired token.",
    )
    pair = TextFilter(
        method="paired", longest=_MAX_PAIR, label="Symbol of the paired token in any case; `all` disables the filter."
    )
    socialInterface = TextFilter(
        method="launched_by_interface", longest=MAX_INTERFACE_LENGTH, label="Interface of the launch, in any case."
    )
    startDate = UnixTimeFilter(field_name="deployed_at", lookup_expr="gt", label="Launched after these Unix seconds.")
    champagne = ParsedFilter(
        method="only_champagne", parse=parse_flag, shape=FLAG_SHAPE, label="Only champagne tokens."
    )
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
    """Filters of the deprecated search."""

    q = TokenFilter.base_filters["q"]
    fids = TokenFilter.base_filters["fids"]


class DeployedByFidFilter(ListFilter):
    """Filter by the user that requested the launch."""

    fid = NumberFilter(field_name="requestor_fid", required=True, label="Requestor FID.")


class DeployedByAddressFilter(ListFilter):
    """Filter by the wallet that sent or requested the launch."""

    address = WalletFilter(method="deployed_by", required=True, label="Sender or requestor.")

    def deployed_by(self, tokens: TokenQuerySet, name: str, value: str) -> TokenQuerySet:
        return tokens.deployed_by(value)


class AdminFilter(ListFilter):
    """Filter by the tokens' current admin."""

    admin = WalletFilter(field_name="admin", required=True, label="Current admin of the tokens.")
    chainId = TokenFilter.base_filters["chainId"]


FILTER_SETS: dict[str, type[ListFilter]] = {
    filter_set.__name__: filter_set
    for filter_set in (TokenFilter, SearchFilter, DeployedByFidFilter, DeployedByAddressFilter, AdminFilter)
}

# Filters by user, wallet or chain.
IDENTITY_FILTERS = frozenset({"fid", "fids", "msgSender", "chainId"})
