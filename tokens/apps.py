from django.apps import AppConfig
from django.core import checks

from tokens.checks import check_chains


class TokensConfig(AppConfig):
    name = "tokens"

    def ready(self) -> None:
        checks.register(check_chains)
