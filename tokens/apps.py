from django.apps import AppConfig
from django.core import checks

from tokens.checks import check_chains, check_following, check_nodes, check_signers


class TokensConfig(AppConfig):
    name = "tokens"

    def ready(self) -> None:
        checks.register(check_chains)
        checks.register(check_following)
        checks.register(check_signers)
        checks.register(check_nodes, deploy=True)
