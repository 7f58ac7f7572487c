from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks

from config.web.client_ip import check_client_address


class OperatorsAdminConfig(SimpleAdminConfig):
    """Django's admin site, whose pages only the URLs and their checks load: worker, beat and follower need none."""

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_pages, checks.Tags.admin)
        checks.register(check_client_address, deploy=True)


def _check_pages(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    admin.autodiscover()
    return check_admin_app(app_configs, **options)
