"""`manage.py doctor`: check the installation, and print findings and what to do."""

import json
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.doctor.findings import Finding, Level, run_checks


class Command(BaseCommand):
    help = "Check servers, nodes, processes, settings and rows. Ends with status 1 if there is an error."
    # They are among its own checks: a mistake is a finding.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object instead of lines.")

    def handle(self, *args: Any, **options: Any) -> None:
        results = []
        for name, finding in run_checks():
            results.append((name, finding))
            if not options["json"]:
                self.stdout.write(_line(name, finding))
        counts = Counter(finding.level for _, finding in results)
        if options["json"]:
            self.stdout.write(
                json.dumps({"counts": counts, "findings": [_row(*result) for result in results]}, indent=1)
            )
        else:
            self.stdout.write(", ".join(f"{counts[level]} {level}" for level in Level))
        if counts[Level.ERROR]:
            raise SystemExit(1)


def _line(name: str, finding: Finding) -> str:
    action = f"\n         {finding.action}" if finding.action else ""
    guide = f"\n         docs/{finding.guide}" if finding.guide and finding.level != Level.OK else ""
    return f"{finding.level:8} {name}: {finding.summary}{action}{guide}"


def _row(name: str, finding: Finding) -> dict[str, str]:
    guide = f"docs/{finding.guide}" if finding.guide else ""
    return {
        "check": name,
        "level": finding.level,
        "summary": finding.summary,
        "action": finding.action,
        "guide": guide,
    }
