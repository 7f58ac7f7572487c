"""`manage.py prepare_local_accounts DIRECTORY`: accounts for `make run`, printed as one JSON line."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from development import local_accounts


class Command(BaseCommand):
    help = "Creates the partner key of `make run` and, on request, its administrator; prints both as JSON."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="where both are stored")
        parser.add_argument("--administrator", action="store_true", help="create the administrator as well")

    def handle(self, *args: Any, **options: Any) -> None:
        directory: Path = options["directory"]
        credentials = {"partnerKey": local_accounts.ensure_partner_key(directory / "partner-key")}
        if options["administrator"]:
            credentials["password"] = local_accounts.ensure_administrator(directory / "administrator")
        self.stdout.write(json.dumps(credentials))
