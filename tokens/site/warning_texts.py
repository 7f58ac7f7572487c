"""Launch warning texts: a title, the meaning for a buyer, and the facts that it was derived from."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tokens.indexing.launch_warnings import (
    MISSING_POOL_CONFIG,
    UNUSUAL_PAIR_ADDRESS,
    UNUSUAL_POSITIONS,
    UNUSUAL_TICK,
)
from tokens.models.token import POSSIBLE_COPY, UNSUPPORTED_PRICE


class WarningText(NamedTuple):
    """Texts for one warning."""

    code: str
    title: str | Promise
    meaning: str | Promise
    derivation: str | Promise


_TEXTS = {
    text.code: text
    for text in (
        WarningText(
            POSSIBLE_COPY,
            _("Possible copy"),
            _("Another token with the same name and symbol is older and verified. This one may imitate it."),
            _("Names and symbols are compared without case, invisible characters and look-alike spellings."),
        ),
        WarningText(
            UNUSUAL_TICK,
            _("Unusual starting price"),
            _("The pool started at another price than launches usually do. Early buyers may have paid much less."),
            _(
                "The starting tick of the pool differs from the usual one of its paired token. Against the chain's own"
                " currency, the first market cap was below one unit of it."
            ),
        ),
        WarningText(
            UNUSUAL_PAIR_ADDRESS,
            _("Unusual paired token"),
            _("The token trades against a token that launches seldom use. You may be unable to sell what you get."),
            _("The paired token is neither the chain's own currency nor one of the known quote tokens."),
        ),
        WarningText(
            UNUSUAL_POSITIONS,
            _("Unusual liquidity"),
            _("The liquidity is spread over other prices than usual. The price may move faster than you expect."),
            _("The positions of the launch match none of the known shapes."),
        ),
        WarningText(
            UNSUPPORTED_PRICE,
            _("Unsupported price"),
            _("The pool can pay this price for almost none of the tokens. A market cap would be false: none is shown."),
            _(
                "What the pool or the bonding curve holds of the paired token, by its changes of liquidity and its"
                " trades, is less than a thousandth of the price times the supply."
            ),
        ),
        WarningText(
            MISSING_POOL_CONFIG,
            _("No known pool"),
            _("The launch has no pool that could be read. There may be no market for this token."),
            _("The launch transaction created no pool of a known kind, or none with a starting price."),
        ),
    )
}


def warning_texts(codes: list[str]) -> list[WarningText]:
    """Return the warnings' texts; a warning without a text has its code as the title."""
    return [_TEXTS.get(code, WarningText(code, code, "", "")) for code in codes]
