"""`manage.py issue_partner_key NAME`: issue a partner key and print only the key on standard output."""

import argparse
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import Scope

_DEFAULT_SCOPES = (Scope.READ, Scope.INDEX)
_MAX_DAYS = 3650


class Command(BaseCommand):
    help = "Issue a partner key and print only the key on standard output. It can't be shown again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the key's owner and purpose")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="scope of the key; repeat for more (default: read and index)",
        )
        parser.add_argument("--expires-days", type=_days, help="days until the key expires (default: never)")

    def handle(self, *args: Any, **options: Any) -> None:
        days: int | None = options["expires_days"]
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        # Otherwise the validation would log each constraint that a database out of reach can't check.
        connection.ensure_connection()
        try:
            text = credentials.issue_key(
                options["name"], scopes=options["scope"] or _DEFAULT_SCOPES, expires_at=expires_at
            )
        except ValidationError as error:
            raise CommandError(
                "; ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
            ) from error
        self.stdout.write(text)


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MAX_DAYS:
        raise argparse.ArgumentTypeError(f"expected a whole number of days from 1 to {_MAX_DAYS}")
    return int(text)
