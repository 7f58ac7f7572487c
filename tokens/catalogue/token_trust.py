"""Trust in a token's launch: a verdict, and the codes of the facts for and against it. Pure.

The launcher writes a launch's context, which proves nothing. Facts from others count: an operator's tag, the
registry's known deployers, and the wallets that the social protocol has verified for the requestor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from config.parsing.response_types import Keywords
from tokens.indexing.launch_warnings import (
    MISSING_POOL_CONFIG,
    UNUSUAL_PAIR_ADDRESS,
    UNUSUAL_POSITIONS,
    UNUSUAL_TICK,
)
from tokens.models.token import POSSIBLE_COPY, UNSUPPORTED_PRICE

OPERATOR_VERIFIED = "OPERATOR_VERIFIED"
DEPLOYER_KNOWN = "DEPLOYER_KNOWN"
INTERFACE_KNOWN = "INTERFACE_KNOWN"
USER_VERIFIED = "USER_VERIFIED"
ADMIN_VERIFIED = "ADMIN_VERIFIED"
LAUNCH_FINAL = "LAUNCH_FINAL"
INTERFACE_UNVERIFIED = "INTERFACE_UNVERIFIED"
USER_UNVERIFIED = "USER_UNVERIFIED"
BLOCKED = "BLOCKED"

# Code -> meaning, sorted as in `reasons`; the warnings follow.
TRUST_REASONS = {
    OPERATOR_VERIFIED: "an operator of this service verified the token",
    DEPLOYER_KNOWN: "the launch's sender is on the registry's list of known deployers",
    INTERFACE_KNOWN: "the launch names its interface, and its sender is a known deployer",
    USER_VERIFIED: "the launch's sender is a verified wallet of the requestor's social profile",
    ADMIN_VERIFIED: "the original admin called verify() of the token, which anyone may do with an own token",
    LAUNCH_FINAL: "the launch's block is final",
    INTERFACE_UNVERIFIED: "the launch names an interface, but its sender is no known deployer",
    USER_UNVERIFIED: "the launch names a user, but its sender is neither a verified wallet of that user's profile nor a"
    " known deployer",
    BLOCKED: "an operator removed the token from the lists",
}
WARNING_CODES = (
    *(UNUSUAL_TICK, UNUSUAL_PAIR_ADDRESS, MISSING_POOL_CONFIG, UNUSUAL_POSITIONS),
    *(POSSIBLE_COPY, UNSUPPORTED_PRICE),
)


class Trust(TypedDict):
    """Trust in the launch of a token."""

    verified: Annotated[
        bool, "An operator verified the token, or its sender is a known deployer; false for a blocked token."
    ]
    reasons: Annotated[
        list[Annotated[str, Keywords(enum=[*TRUST_REASONS, *WARNING_CODES])]],
        f"Facts for and against it. {'. '.join(f'{code}: {text}' for code, text in TRUST_REASONS.items())}."
        " Further codes are those of warnings.",
    ]


@dataclass(frozen=True, slots=True)
class TrustFacts:
    """Stored facts about a launch."""

    is_operator_verified: bool
    is_admin_verified: bool
    is_deployer_known: bool
    is_user_verified: bool
    is_final: bool
    is_blocked: bool
    names_interface: bool
    names_user: bool
    warnings: Sequence[str]


def describe_trust(facts: TrustFacts) -> Trust:
    """Return a record's `trust`. `TokenQuerySet.trusted` has the same condition for lists."""
    is_trusted = facts.is_operator_verified or facts.is_deployer_known
    return {"verified": is_trusted and not facts.is_blocked, "reasons": list(_reasons(facts))}


def _reasons(facts: TrustFacts) -> Iterator[str]:
    if facts.is_operator_verified:
        yield OPERATOR_VERIFIED
    if facts.is_deployer_known:
        yield DEPLOYER_KNOWN
        if facts.names_interface:
            yield INTERFACE_KNOWN
    if facts.is_user_verified:
        yield USER_VERIFIED
    if facts.is_admin_verified:
        yield ADMIN_VERIFIED
    if facts.is_final:
        yield LAUNCH_FINAL
    if facts.names_interface and not facts.is_deployer_known:
        yield INTERFACE_UNVERIFIED
    if facts.names_user and not (facts.is_user_verified or facts.is_deployer_known):
        yield USER_UNVERIFIED
    if facts.is_blocked:
        yield BLOCKED
    yield from facts.warnings
