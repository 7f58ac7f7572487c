"""Trending score of a token: the sum over its traders of sqrt(net bought USD), which decays (docs/market.md).

A net that was sold counts 0. The net of a trader halves every HALF_LIFE_SECONDS, and with it the square root every two
of these. All scores decay alike, so `log2(score at time t) + t / (2 half-lives)` is a number that does not change with
t and sorts as the scores.
The functions return SQL.
"""

# Seconds.
HALF_LIFE_SECONDS = 21_600
_SCORE_HALF_LIFE = 2 * HALF_LIFE_SECONDS
# A score below is the rest of rounding: a trader counts from a net of 1e-8 USD on.
_LEAST_SCORE = 1e-4
# PostgreSQL raises an error where a power is too large or too small; years of decay are as good as all of it.
_LONGEST = 900


def decayed_net(net: str, seconds: str) -> str:
    """Return a net after that many seconds without a trade."""
    return f"({net}) * {_power_of_2(f'-({seconds}) / {HALF_LIFE_SECONDS}')}"


def score_part(net: str, seconds: str) -> str:
    """Return a trader's part of the score, that many seconds after the time of the net; they may be negative."""
    return f"sqrt(greatest({net}, 0)) * {_power_of_2(f'-({seconds}) / {_SCORE_HALF_LIFE}')}"


def score_at(trending: str, unix_time: str) -> str:
    """Return the score of a stored number at a time; 0 for NULL."""
    return f"coalesce({_power_of_2(f'{trending} - {unix_time} / {_SCORE_HALF_LIFE}')}, 0)"


def trending_of(score: str, unix_time: str) -> str:
    """Return the number to store for the score at a time; NULL for none."""
    return f"CASE WHEN {score} > {_LEAST_SCORE} THEN ln({score}) / ln(2::float8) + {unix_time} / {_SCORE_HALF_LIFE} END"


def _power_of_2(exponent: str) -> str:
    # A NULL exponent must remain one, which `least` and `greatest` ignore.
    return (
        f"CASE WHEN ({exponent}) IS NOT NULL THEN power(2::float8, least(greatest(({exponent})::float8, "
        f"-{_LONGEST}), {_LONGEST})) END"
    )
