from django.apps import AppConfig
from django.core import checks

from tokens.checks import (
    CHAINS,
    check_chains,
    check_following,
    check_market_chains,
    check_nodes,
    check_signers,
    check_site_chain,
    check_uploads,
    check_variables,
)


class TokensConfig(AppConfig):
    name = "tokens"

    def ready(self) -> None:
        checks.register(check_chains, CHAINS)
        checks.register(check_variables, CHAINS)
        checks.register(check_following, CHAINS)
        checks.register(check_market_chains, CHAINS)
        checks.register(check_site_chain, CHAINS)
        checks.register(check_signers, CHAINS)
        checks.register(check_uploads, CHAINS)
        checks.register(check_nodes, deploy=True)
