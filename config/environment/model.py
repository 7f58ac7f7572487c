"""Model with all environment variables that configure the service.

A field has its variable's name, its type, its kind with the default and the limits (both included), and below it a
docstring with the meaning and the unit. `manage.py write_settings` writes `.env.example` and the tables in
`docs/configuration.md` from these docstrings. A line `Default:` describes a default that is no value, and a line
`Example:` has a value for `.env.example`. Links are relative to `docs/`.
"""

from attrs import frozen

from config.environment import kinds
from config.environment.access_variables import OperatorVariables, RateLimitVariables
from config.environment.chain_variables import ChainVariables, DeploymentVariables
from config.environment.event_variables import DocumentVariables, EventVariables
from config.environment.installation_variables import CacheVariables, InstallationVariables, ServerVariables
from config.environment.issuers import IssuerVariables
from config.environment.market_variables import MarketVariables
from config.environment.site_variables import SiteVariables
from config.environment.upload_variables import UploadVariables
from config.environment.variables import variable

# Days.
_DECADE = 3650


@frozen(slots=False, repr=False)
class LeaderboardVariables:
    """Agent leaderboard."""

    LEADERBOARD_FACT_DAYS: int = variable(kinds.whole_number(31, _DECADE), "90")
    """Retention in days for facts about agents; the longest interval is 30 days. Each account's last social score
    stays."""
    LEADERBOARD_AGENTS_PER_KEY: int = variable(kinds.whole_number(1, 1_000_000), "1000")
    """Maximum agents that a partner key may describe: each agent has a row in every ranking, ranked or not."""
    LEADERBOARD_ACTOR_SCORES: bool = variable(kinds.switch, "false")
    """Whether the service fetches social profiles, for their scores, for all accounts that interact with agents.
    Providers charge for each profile. Profiles of agents' creators are always fetched."""


@frozen(slots=False, repr=False)
class Environment(
    InstallationVariables,
    ServerVariables,
    SiteVariables,
    UploadVariables,
    CacheVariables,
    ChainVariables,
    DeploymentVariables,
    IssuerVariables,
    OperatorVariables,
    RateLimitVariables,
    MarketVariables,
    EventVariables,
    DocumentVariables,
    LeaderboardVariables,
):
    """Service variables, in the sections that documents have."""
