"""Turn a pretoken into a deployment by hand."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from config.http.json_client import Permanent, Retryable
from pretokens import conversion
from tokens import tasks


class Command(BaseCommand):
    help = "Have the launch of a pending pretoken tried, and order it as a deployment of the operators' own."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=uuid.UUID, metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            deployment = conversion.launch(conversion.prepare(options["id"]))
        except (Permanent, Retryable) as error:
            raise CommandError(f"Not deployed: {error}") from error
        transaction.on_commit(lambda: tasks.enqueue_deployment(deployment.pk))
        where = f"at {deployment.expected_address} on chain {deployment.chain_id}"
        self.stdout.write(f"Deployment {deployment.request_key} is enqueued; its token will be {where}.")
