"""Model of all environment variables that configure the service.

A field has the name of its variable, its type, its kind with the default and the limits (both included), and below it
its meaning with the unit. `manage.py write_settings` writes `.env.example` and the tables of `docs/configuration.md`
from these docstrings. A line `Default:` describes a default that is no value, and a line `Example:` has a value for
`.env.example`. Links are those of a document in `docs/`.
"""

from attrs import frozen

from config.environment import kinds
from config.environment.access_variables import OperatorVariables, RateLimitVariables
from config.environment.chain_variables import ChainVariables, DeploymentVariables, DevelopmentVariables
from config.environment.event_variables import DocumentVariables, EventVariables
from config.environment.installation_variables import CacheVariables, InstallationVariables, ServerVariables
from config.environment.issuers import IssuerVariables
from config.environment.market_variables import MarketVariables
from config.environment.site_variables import SiteVariables
from config.environment.upload_variables import UploadVariables
from config.environment.variables import variable

# Days, and seconds.
_DECADE, _DAY = 3650, 86_400


@frozen(slots=False, repr=False)
class LeaderboardVariables:
    """The leaderboard of agents."""

    LEADERBOARD_24H_SECONDS: int = variable(kinds.whole_number(15, _DAY), "300")
    """Seconds between two rankings of the last day."""
    LEADERBOARD_7D_SECONDS: int = variable(kinds.whole_number(15, _DAY), "900")
    """Seconds between two rankings of the last seven days."""
    LEADERBOARD_30D_SECONDS: int = variable(kinds.whole_number(15, _DAY), "3600")
    """Seconds between two rankings of the last thirty days."""
    LEADERBOARD_FACT_DAYS: int = variable(kinds.whole_number(31, _DECADE), "90")
    """Retention of facts about agents in days; the longest interval is 30 days. The last social score of each account
    stays."""
    LEADERBOARD_SNAPSHOT_MINUTES: int = variable(kinds.whole_number(1, 10_080), "30")
    """Retention of a replaced ranking in minutes, for clients that page through it."""
    LEADERBOARD_AGENTS_PER_KEY: int = variable(kinds.whole_number(1, 1_000_000), "1000")
    """Maximum agents that a partner key may describe: each has a row in every ranking, ranked or not."""
    LEADERBOARD_ACTOR_SCORES: bool = variable(kinds.switch, "false")
    """Whether the social profiles of all accounts that interact with agents are fetched, for their scores; providers
    charge for each. Those of agents' creators are always fetched."""
    HUB_PULL_SECONDS: int = variable(kinds.whole_number(10, _DAY), "120")
    """Seconds between two pulls of an agent's casts from the hub at `FARCASTER_HUB_URL`."""


@frozen(slots=False, repr=False)
class Environment(
    InstallationVariables,
    ServerVariables,
    SiteVariables,
    UploadVariables,
    CacheVariables,
    ChainVariables,
    DeploymentVariables,
    DevelopmentVariables,
    IssuerVariables,
    OperatorVariables,
    RateLimitVariables,
    MarketVariables,
    EventVariables,
    DocumentVariables,
    LeaderboardVariables,
):
    """Variables of the service, in the sections of their documents."""
