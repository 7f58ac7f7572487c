"""`manage.py rewind`: set a chain back to a block, so that its follower resumes from there after a halt."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tokens.chains.errors import NodeUnavailableError
from tokens.checks import CHAINS
from tokens.following import halts
from tokens.installation.installed_chains import UnsupportedChainError, installed_chain


class Command(BaseCommand):
    help = "Read a chain again above a block, unwind what it dropped, end a halt, and let the follower resume."
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID")
        parser.add_argument("--to", type=int, required=True, metavar="BLOCK", help="The newest block to keep.")
        parser.add_argument("--yes", action="store_true", help="Skip the confirmation.")

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id, to = options["chain"], options["to"]
        try:
            chain = installed_chain(chain_id)
            halts.check_rewind(chain, to=to)
            if not options["yes"] and not self._confirms(chain_id, to):
                raise CommandError("Nothing was changed.")
            rewound = halts.rewind_chain(chain, to=to)
        except (UnsupportedChainError, NodeUnavailableError, halts.NotRewindableError) as error:
            raise CommandError(str(error)) from error
        unwound = rewound.unwound
        self.stdout.write(
            f"chain {chain_id} is back at block {to}: {unwound.tokens} tokens hidden, {unwound.events} events and"
            f" {unwound.trades} trades deleted, {unwound.requests} transactions enqueued again"
        )
        if rewound.kept_to > to:
            self.stdout.write(
                f"blocks {to + 1} to {rewound.kept_to} are the same on the chain: they are read and verified again,"
                " and their rows stay unless the chain proves them wrong"
            )
        for first, last in rewound.runs:
            self.stdout.write(f"to be read again: manage.py backfill --chain {chain_id} --from {first} --to {last}")

    def _confirms(self, chain_id: int, to: int) -> bool:
        """Return whether the operator confirms at the terminal."""
        self.stdout.write(
            f"Everything that chain {chain_id} has above block {to} is read again from its nodes; rows of blocks that"
            " the chain dropped are unwound."
        )
        try:
            answer = input("Continue? [y/N] ")
        except EOFError:
            # No interactive input: a script, or a container without a terminal.
            raise CommandError("Nothing was changed: no confirmation. Use --yes to skip it.") from None
        return answer.strip().lower() in ("y", "yes")
