"""`manage.py deploy_pretoken ID`: convert a pretoken into a deployment."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError, RetryableError
from pretokens import conversion
from tokens.checks import CHAINS


class Command(BaseCommand):
    help = "Simulate the launch of a pending pretoken, and store it as a deployment of the operators."
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=uuid.UUID, metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            deployment = conversion.create_deployment(conversion.prepare_launch(options["id"]))
        except (PermanentError, RetryableError) as error:
            raise CommandError(f"Not deployed: {error}") from error
        # It waits for the sweeper: Celery, which sends messages, would be a tenth of this command's start.
        where = f"at {deployment.expected_address} on chain {deployment.chain_id}"
        self.stdout.write(f"Deployment {deployment.request_key} is enqueued; its token will be {where}.")
