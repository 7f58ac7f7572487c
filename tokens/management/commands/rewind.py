"""Take a chain back to a block, so that its follower goes on from there: the way out of a halt."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tokens.chains.types import NodeUnavailable
from tokens.following import halts
from tokens.installation.installed_chains import UnsupportedChain, installed_chain


class Command(BaseCommand):
    help = "Take back everything of a chain's blocks above one, end a halt, and let the follower go on from there."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID")
        parser.add_argument("--to", type=int, required=True, metavar="BLOCK", help="The newest block that is kept.")
        parser.add_argument("--yes", action="store_true", help="Do not ask.")

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id, to = options["chain"], options["to"]
        try:
            chain = installed_chain(chain_id)
            halts.check_rewind(chain, to=to)
            if not options["yes"] and not self._confirms(chain_id, to):
                raise CommandError("Nothing was changed.")
            rewound = halts.rewind(chain, to=to)
        except (UnsupportedChain, NodeUnavailable, halts.NotRewindable) as error:
            raise CommandError(str(error)) from error
        unwound = rewound.unwound
        self.stdout.write(
            f"chain {chain_id} is back at block {to}: {unwound.tokens} tokens hidden, {unwound.events} events deleted,"
            f" {unwound.requests} transactions looked for again"
        )
        for first, last in rewound.runs:
            self.stdout.write(f"to be read again: manage.py backfill --chain {chain_id} --from {first} --to {last}")

    def _confirms(self, chain_id: int, to: int) -> bool:
        """Whether somebody at the terminal says so."""
        self.stdout.write(
            f"Everything that chain {chain_id} held in blocks above {to} is taken back, and read again from its nodes."
        )
        try:
            answer = input("Go on? [y/N] ")
        except EOFError:
            # Nobody is there to ask: a script, or a container without a terminal.
            raise CommandError("Nothing was changed: nobody answered. --yes does not ask.") from None
        return answer.strip().lower() in ("y", "yes")
