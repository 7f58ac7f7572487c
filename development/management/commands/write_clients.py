"""`manage.py write_clients`, which `make clients` calls: generated client files, from the API's description."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.api.openapi_views import openapi_document
from development import clients


class Command(BaseCommand):
    help = "Writes the generated files of the clients for Python and TypeScript, and the Postman collection."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--directory", type=Path, default=clients.CLIENTS, help="default: clients/")

    def handle(self, *args: Any, **options: Any) -> None:
        clients.write_clients(options["directory"], json.loads(openapi_document()))
