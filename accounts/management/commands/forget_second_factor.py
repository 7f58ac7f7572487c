"""`manage.py forget_second_factor NAME`: restore access for an operator without the authenticator app."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.operators import second_factor


class Command(BaseCommand):
    help = "Remove the second factor of an admin account, so that its password is enough to log in."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="user name of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        user = get_user_model()._default_manager.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"no account is named {options['name']}")
        had_one = second_factor.reset_second_factor(user)
        self.stdout.write(f"{user} logs in without a code now." if had_one else f"{user} had no second factor.")
