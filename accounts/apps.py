from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from accounts.operators.roles import grant_permissions


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        post_migrate.connect(grant_permissions, sender=apps.get_app_config("auth"))
