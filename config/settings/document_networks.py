"""Settings about which addresses are asked on behalf of others."""

from ipaddress import ip_network

from config.environment.variables import env_list, env_str, env_url, refused
from config.http.public_addresses import Network


def env_networks(name: str) -> tuple[Network, ...]:
    """IP addresses or networks between commas."""
    try:
        return tuple(ip_network(part) for part in env_list(name))
    except ValueError as error:
        raise refused(name, "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas") from error


def env_gateway(name: str, default: str) -> str:
    """An address as of `env_url`; empty for the word off, since an empty variable has the default."""
    return "" if env_str(name).lower() == "off" else env_url(name, default)
