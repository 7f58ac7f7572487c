"""`manage.py user_token --fid 12345`: a credential for the users' endpoints in `make run`."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.users.identity import HIGHEST_FID
from config.http.errors import PermanentError, RetryableError
from config.http.json_client import get_json
from development import running_chain

_TIMEOUT_SECONDS = 5.0


class Command(BaseCommand):
    help = (
        "Prints a user's token for the Authorization header. Only beside `make run`, whose stand-in issuer signs "
        "tokens for any user; no other installation trusts them."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--fid", type=_fid, help="the user's FID; with --subject the FID of the linked account")
        parser.add_argument("--subject", help="the subject of a token of Privy's, such as did:privy:sample")

    def handle(self, *args: Any, **options: Any) -> None:
        fid, subject = options["fid"], options["subject"]
        if fid is None and subject is None:
            raise CommandError("--fid, --subject or both are required")
        settings = running_chain.published_settings()
        url = settings.get("FARCASTER_AUTH_ORIGIN")
        if not url:
            raise CommandError(
                "there is no stand-in issuer: it runs with `make run`, if the settings have neither nodes nor issuers"
            )
        query = {} if fid is None else {"fid": str(fid)}
        if subject is None:
            path, query = "/tokens/quick-auth", query | {"domain": settings["FARCASTER_AUTH_DOMAINS"]}
        else:
            path, query = "/tokens/privy", query | {"subject": subject, "app_id": settings["PRIVY_APP_ID"]}
        try:
            answer = get_json(url + path, params=query, timeout=_TIMEOUT_SECONDS)
        except (RetryableError, PermanentError) as error:
            raise CommandError(f"the stand-in returned no token: {error}") from error
        self.stdout.write(answer["token"])


def _fid(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= HIGHEST_FID):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {HIGHEST_FID}")
    return int(text)
