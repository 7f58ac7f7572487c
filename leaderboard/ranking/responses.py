"""Responses of the leaderboard, and the evidence that rankings store for them."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from config.parsing.response_types import Keywords
from leaderboard.models import Interval

Components = Annotated[dict[str, float], "By name, from 0 to 1."]
Independent = Annotated[float, "Weight of the accounts without a discount."]
ComputedAt = Annotated[datetime, "The end of the interval."]


class StandingTokenShape(TypedDict):
    """The agent's token."""

    chainId: int
    address: str
    name: str | None
    symbol: str | None


class StandingRunsShape(TypedDict):
    """Runs of the agent within the interval."""

    total: int
    succeeded: int
    failed: int


class StandingActionsShape(TypedDict):
    """Casts of the agent within the interval; a cast that replies and quotes is a reply."""

    posts: int
    replies: int
    quotes: int


class CastMetricsShape(TypedDict):
    """Number of casts within the interval, and of interactions with known casts of the agent."""

    casts: int
    interactions: int


class StandingCreatorShape(TypedDict):
    """Creator of the agent."""

    fid: int | None
    socialScore: Annotated[float | None, "From 0 to 1."]


class StandingScoreShape(TypedDict):
    """Breakdown of the score; administrators only."""

    composite: Annotated[float, "From 0 to 100."]
    components: Components
    washConfidence: Annotated[float, "From 0 to 1: share of the audience that does not count."]
    washFlags: Annotated[list[str], "Discounts on the audience."]


class StandingShape(TypedDict):
    """Agent in a ranking, as of the ranking's time."""

    rank: Annotated[int, "From 1."]
    agentId: str
    agentName: str | None
    fid: int | None
    token: StandingTokenShape
    runs: StandingRunsShape
    actions: StandingActionsShape
    castMetrics: CastMetricsShape
    creator: StandingCreatorShape
    lastActiveAt: Annotated[datetime | None, "Time of the last run or cast within the interval."]
    computedAt: ComputedAt
    score: NotRequired[Annotated[StandingScoreShape, "Administrators only; the key is absent for other callers."]]


class Leaderboard(TypedDict):
    data: list[StandingShape]
    cursor: str | None


class AudienceShape(TypedDict):
    """Accounts that interacted in the judged period, the interval or at least seven days, and their weight."""

    accounts: int
    weight: Annotated[float, "Without discounts."]
    independent: Independent
    counted: Annotated[float, "Weight that counts."]


class DiscountedAccountShape(TypedDict):
    """Account to which a discount applies."""

    fid: int
    interactions: Annotated[int, "Confirmed ones in the judged period; 1 if none is."]
    score: Annotated[float | None, "Social score from 0 to 1."]
    weight: float


class DiscountEvidence(TypedDict):
    """Evidence of a discount, as a standing stores it by flag."""

    meaning: str
    accounts: int
    interactions: int
    weight: Annotated[float, "With what the accounts of a stricter discount count."]
    limit: Annotated[float, "Limit of what the accounts count together."]
    counted: Annotated[float, "weight × limit ÷ (weight + limit)"]
    independent: Independent
    listed: Annotated[list[DiscountedAccountShape], "The heaviest accounts, at most ten."]


class DiscountShape(DiscountEvidence):
    """Discount that takes 10 % of the audience's weight, and at least 1."""

    flag: str


class OwnStandingShape(TypedDict):
    """Current standing of an agent, as its owner sees it."""

    agentId: str
    fid: int | None
    fidProven: Annotated[bool, "Whether what a hub has about the FID counts."]
    fidProofCode: Annotated[
        str | None, "A post of the FID with this text proves it; null without a FID, or if it is proven."
    ]
    interval: Annotated[str, Keywords(enum=Interval.values)]
    computedAt: ComputedAt | None
    rank: Annotated[int | None, "From 1; null without a listed token."]
    composite: Annotated[float | None, "From 0 to 100."]
    components: Components | None
    audience: AudienceShape | None
    discounts: list[DiscountShape] | None


class AgentStanding(TypedDict):
    data: OwnStandingShape
