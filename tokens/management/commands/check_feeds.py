"""`manage.py check_feeds`: compare the events that feeds return with the logs of a chain's nodes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tokens.chains.errors import NodeUnavailableError
from tokens.checks import CHAINS
from tokens.feeds.feed_check import FeedComparison, compare_feeds
from tokens.feeds.pool_events import MOST_BLOCKS, TooManyEventsError, UnplacedEventError
from tokens.feeds.served_blocks import NotServedError, find_feed_chain, read_served_blocks
from tokens.installation.installed_chains import UnsupportedChainError, installed_chain

_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Decode the pools' logs of a range of blocks anew, from a node, and compare them with the feeds' events."
        " Fails if any event is missing, invented or different."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID", help="Chain id.")
        parser.add_argument(
            "--from", type=int, metavar="BLOCK", help=f"The first block; by default {MOST_BLOCKS} blocks are compared."
        )
        parser.add_argument("--to", type=int, metavar="BLOCK", help="The last block; by default the newest served one.")

    def handle(self, *args: Any, **options: Any) -> None:
        total = FeedComparison()
        try:
            info = find_feed_chain(options["chain"])
            served = read_served_blocks(info)
            last = served.last if options["to"] is None else options["to"]
            first = max(last - MOST_BLOCKS + 1, served.first) if options["from"] is None else options["from"]
            if not served.first <= first <= last <= served.last:
                raise CommandError(f"blocks {served.first} to {served.last} are served, and {first} to {last} are not")
            chain = installed_chain(info.chain_id)
            for start in range(first, last + 1, MOST_BLOCKS):
                part = compare_feeds(chain, start, min(start + MOST_BLOCKS - 1, last))
                total.events += part.events
                total.unpriced += part.unpriced
                total.differences += part.differences
        except NotServedError as error:
            raise CommandError(f"--chain {error}") from error
        except (UnsupportedChainError, NodeUnavailableError, UnplacedEventError) as error:
            raise CommandError(str(error)) from error
        except TooManyEventsError as error:
            raise CommandError("too many events in a thousand blocks: give a shorter range") from error
        self.stdout.write(
            f"blocks {first} to {last}: {total.events} events compared, {total.unpriced} without their amounts, "
            f"{len(total.differences)} differ"
        )
        for difference in total.differences[:_SHOWN]:
            self.stdout.write(difference)
        if total.differences:
            raise CommandError("the feeds differ from the chain")
