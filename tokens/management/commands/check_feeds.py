"""`manage.py check_feeds`: compare feed responses with logs from a chain's nodes."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError, RetryableError
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.registry.chains import ChainInfo
from tokens.checks import CHAINS
from tokens.feeds.checking.feed_check import DEFAULT_HISTORY, FeedCheck
from tokens.feeds.checking.holder_check import compare_holders
from tokens.feeds.feed_pairs import find_asset
from tokens.feeds.pool_events import MOST_BLOCKS, TooManyEventsError, UnplacedEventError
from tokens.feeds.served_blocks import NotServedError, find_feed_chain, read_served_blocks
from tokens.installation.installed_chains import UnsupportedChainError, installed_chain

_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Decode the pools' logs of a range of blocks anew, from a node, and compare them with the feeds' events and"
        " reserves, the charts' bars and the daily sums. Fails if anything is missing, invented or different."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID", help="Chain id.")
        parser.add_argument(
            "--from", type=int, metavar="BLOCK", help=f"The first block; by default {MOST_BLOCKS} blocks are compared."
        )
        parser.add_argument("--to", type=int, metavar="BLOCK", help="The last block; by default the newest served one.")
        parser.add_argument(
            "--history",
            type=int,
            default=DEFAULT_HISTORY,
            metavar="BLOCKS",
            help="Reserves of pools that were launched more blocks before are not compared; by default "
            f"{DEFAULT_HISTORY}. Nodes accept 2,000 or more blocks of 200 pools in one request.",
        )
        parser.add_argument(
            "--makers",
            action="store_true",
            help="Events without a maker differ, too. Ranges of logs, as of a historical sync, name none.",
        )
        parser.add_argument(
            "--holders",
            metavar="TOKEN",
            help="Compare the first 50 holders that the explorer lists of this token with their balances instead.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            info = find_feed_chain(options["chain"])
            if options["holders"] is not None:
                self._compare_holders(info, options["holders"])
                return
            served = read_served_blocks(info)
            last = served.last if options["to"] is None else options["to"]
            first = max(last - MOST_BLOCKS + 1, served.first) if options["from"] is None else options["from"]
            if not served.first <= first <= last <= served.last:
                raise CommandError(f"blocks {served.first} to {served.last} are served, and {first} to {last} are not")
            chain = installed_chain(info.chain_id)
            check = FeedCheck(
                chain, first, verified=served.verified, history=options["history"], makers=options["makers"]
            )
            while check.next <= last:
                self._compare(check, last)
        except NotServedError as error:
            raise CommandError(f"--chain {options['chain']}: {error}") from error
        except (UnsupportedChainError, NodeUnavailableError, UnplacedEventError) as error:
            raise CommandError(str(error)) from error
        except TooManyEventsError as error:
            raise CommandError(f"block {check.next} has more events than an answer") from error
        self.stdout.write(f"blocks {first} to {last}: {check.comparison}")
        if check.comparison.differences:
            raise CommandError("the feeds differ from the chain")

    def _compare(self, check: FeedCheck, last: int) -> None:
        """Compare blocks, and write their first differences and the block to continue from after an interruption."""
        first, shown = check.next, len(check.comparison.differences)
        check.compare(last)
        for difference in check.comparison.differences[shown:_SHOWN]:
            self.stdout.write(difference)
        if check.next <= last:
            self.stderr.write(f"blocks {first} to {check.next - 1}: {check.comparison}; go on with --from {check.next}")

    def _compare_holders(self, info: ChainInfo, token: str) -> None:
        if (asset := find_asset(info, token)) is None or info.chain_id not in settings.EXPLORER_URLS:
            raise CommandError(f"--holders takes an asset of this feed, and needs EXPLORER_URL_{info.chain_id}")
        try:
            comparison = compare_holders(installed_chain(info.chain_id), asset)
        except (RetryableError, PermanentError) as error:
            raise CommandError(f"the explorer or the node: {error}") from error
        for difference in comparison.differences:
            self.stdout.write(difference)
        self.stdout.write(str(comparison))
        if comparison.differences:
            raise CommandError("the explorer differs from the chain")
