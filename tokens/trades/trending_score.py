"""Trending score, as SQL: the sum over a token's traders of sqrt(net bought USD), which decays (docs/market.md).

A negative net counts as 0. A trader's net halves every HALF_LIFE_SECONDS, so that its square root halves every two
half-lives. All scores decay alike: `log2(score at time t) + t / (2 half-lives)` is a number that does not change with t
and sorts like the scores.
"""

# Seconds.
HALF_LIFE_SECONDS = 21_600
_SCORE_HALF_LIFE = 2 * HALF_LIFE_SECONDS
# A smaller score is a rounding error: traders count from a net of 1e-8 USD on.
_LEAST_SCORE = 1e-4
# PostgreSQL raises an error if a power is too large or too small; after years of decay nothing counts.
_LONGEST = 900


def decayed_net(net: str, seconds: str) -> str:
    """Return a net after `seconds` without a trade."""
    return f"({net}) * {_power_of_2(f'-({seconds}) / {HALF_LIFE_SECONDS}')}"


def score_part(net: str, seconds: str) -> str:
    """Return a trader's contribution to the score, `seconds` after the net's time; they may be negative."""
    return f"sqrt(greatest({net}, 0)) * {_power_of_2(f'-({seconds}) / {_SCORE_HALF_LIFE}')}"


def score_at(trending: str, unix_time: str) -> str:
    """Return the score behind a stored number at a time; 0 for NULL."""
    return f"coalesce({_power_of_2(f'{trending} - {unix_time} / {_SCORE_HALF_LIFE}')}, 0)"


def trending_of(score: str, unix_time: str) -> str:
    """Return the number to store for a score at a time; NULL without a score."""
    return f"CASE WHEN {score} > {_LEAST_SCORE} THEN ln({score}) / ln(2::float8) + {unix_time} / {_SCORE_HALF_LIFE} END"


def _power_of_2(exponent: str) -> str:
    # A NULL exponent must remain one, which `least` and `greatest` ignore.
    return (
        f"CASE WHEN ({exponent}) IS NOT NULL THEN power(2::float8, least(greatest(({exponent})::float8, "
        f"-{_LONGEST}), {_LONGEST})) END"
    )
