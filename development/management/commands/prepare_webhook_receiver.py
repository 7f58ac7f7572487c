"""`manage.py prepare_webhook_receiver URL SECRET_FILE`: the operators' endpoint for the receiver in `make run`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from accounts.models import EndpointState, WebhookEndpoint
from accounts.subscriptions import endpoints, webhook_secrets
from development import private_files

# Later runs find the endpoint by this text, whatever port they have.
DESCRIPTION = "Receiver of make run"


class Command(BaseCommand):
    help = "Creates or updates the endpoint of `make run` and writes its signing secret to a private file."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="URL of the receiver")
        parser.add_argument("secret_file", type=Path, help="where the secret is stored")

    def handle(self, *args: Any, **options: Any) -> None:
        url: str = options["url"]
        with transaction.atomic():
            rows = WebhookEndpoint.objects.filter(partner_key=None, description=DESCRIPTION)
            endpoint = rows.select_for_update().first()
            if endpoint is None:
                endpoint = endpoints.create_endpoint(None, url=url, description=DESCRIPTION)
            if endpoint.url != url:
                rows.filter(pk=endpoint.pk).update(url=url)
            # An earlier run's failures don't concern this receiver; an endpoint that an operator turned off stays off.
            if endpoint.state in (EndpointState.FAILING, EndpointState.DISABLED):
                endpoints.enable_endpoint(endpoint)
        private_files.replace(options["secret_file"], webhook_secrets.endpoint_secret(endpoint))
