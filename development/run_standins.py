"""Stand-ins for `make run`: sample data instead of outside services that are not configured.

They run only beside a development chain: invented facts about a real chain's tokens and people would be wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from config.environment.model import Environment
from config.environment.variables import read_variables
from development import run_chains
from development.devchain import anvil

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Service:
    """Outside service, and the settings that point the processes at its stand-in."""

    # The name in the greeting, and the name in `python -m development.standins`.
    title: str
    name: str
    # The stand-in's port, if it is free.
    port: int
    # The greeting's text if settings configure the service; empty if a stand-in may replace it.
    decided: Callable[[], str]
    # Maps the stand-in's URL to the processes' environment variables.
    point_at: Callable[[str], dict[str, str]]
    # Hint for configuring the real service.
    advice: str


def _market() -> str:
    if not settings.MARKET_PROVIDER_CHAINS:
        return "of the chains' own trades"
    # The default provider needs no key, but has no data about a development chain.
    if settings.RPC_URLS or settings.MARKET_API_KEY or read_variables(Environment).MARKET_BASE_URL:
        return f"from {urlsplit(settings.MARKET_BASE_URL).hostname}"
    return ""


def _profiles() -> str:
    if settings.SOCIAL_API_KEY:
        return f"from {urlsplit(settings.SOCIAL_BASE_URL).hostname}"
    return f"from {urlsplit(settings.FARCASTER_HUB_URL).hostname}" if settings.FARCASTER_HUB_URL else ""


def _holders() -> str:
    if "dextools" not in settings.FEEDS:
        return "none: no feed needs them"
    return ", ".join(f"from {urlsplit(url).hostname}" for url in settings.EXPLORER_URLS.values())


def _users() -> str:
    names = ", ".join(issuer.issuer for issuer in settings.IDENTITY_ISSUERS if issuer.jwks_url)
    return f"with tokens of {names}" if names else ""


def _issuer_environment(url: str) -> dict[str, str]:
    """Return settings that trust both the stand-in's issuers while it runs: its keys end with it."""
    return {
        "FARCASTER_AUTH_ORIGIN": url,
        "FARCASTER_AUTH_DOMAINS": HOST,
        "PRIVY_APP_ID": "sample",
        "PRIVY_JWKS_URL": f"{url}/v1/apps/sample/jwks.json",
    }


SERVICES = (
    Service(
        title="Market data",
        name="market",
        port=8600,
        decided=_market,
        point_at=lambda url: {"MARKET_BASE_URL": url},
        advice="set MARKET_API_KEY (CoinGecko), or the nodes of a real chain",
    ),
    Service(
        title="Profiles",
        name="social",
        port=8601,
        decided=_profiles,
        point_at=lambda url: {"SOCIAL_BASE_URL": url, "SOCIAL_API_KEY": "sample"},
        advice="set SOCIAL_API_KEY (Neynar) or FARCASTER_HUB_URL",
    ),
    Service(
        title="Users",
        name="issuer",
        port=8602,
        decided=_users,
        point_at=_issuer_environment,
        advice="set FARCASTER_AUTH_DOMAINS, PRIVY_APP_ID or OIDC_ISSUERS",
    ),
    Service(
        title="Holders",
        name="explorer",
        port=8605,
        decided=_holders,
        point_at=lambda url: {f"EXPLORER_URL_{anvil.CHAIN_ID}": url},
        advice="set EXPLORER_URL_<chainId> (Blockscout)",
    ),
)
# `manage.py user_token` and `check_feeds --holders` need these.
_OF_COMMANDS = ("issuer", "explorer")


def choose_ports(find_free_port: Callable[[int], int]) -> dict[str, int]:
    """Return the stand-ins to run, with their ports by name."""
    if run_chains.evm_chain_ids():
        return {}
    return {service.name: find_free_port(service.port) for service in SERVICES if not service.decided()}


def standin_settings(ports: Mapping[str, int]) -> dict[str, str]:
    """Return the settings (environment variables) that point the processes at these stand-ins."""
    environment: dict[str, str] = {}
    for service in SERVICES:
        if service.name in ports:
            environment |= service.point_at(_url(ports[service.name]))
    return environment


def command_settings(ports: Mapping[str, int]) -> dict[str, str]:
    """Return settings with which commands find stand-ins: the user token issuer, and the explorer."""
    return standin_settings({name: port for name, port in ports.items() if name in _OF_COMMANDS})


def services_greeting(ports: Mapping[str, int]) -> str:
    """Return the greeting's lines about outside services."""
    return "\n".join(f"  {service.title:<17} {_describe(service, ports)}" for service in SERVICES)


def _describe(service: Service, ports: Mapping[str, int]) -> str:
    if decided := service.decided():
        return decided
    if service.name not in ports:
        return f"none: {service.advice}"
    return f"SAMPLE DATA of a stand-in at {_url(ports[service.name])};\n{' ' * 20}for real data {service.advice}"


def _url(port: int) -> str:
    return f"http://{HOST}:{port}"
