"""Benchmark for the bundle detector on launches by an author who had not read its code.

    python -m benchmarks.integrity [--seeds 20] [--launches 10]

Per launch kind: the share of bundled purchases that is marked (recall), the share of marked ones that
is bundled (precision), and the share of honest ones that is marked. The peer marks all purchases in a block that
has two. Then the same with other traffic, and with bundles that hide less or more. It checks no limit.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from importlib import import_module

import django

from benchmarks.integrity.bundle_counts import SeededCounts, join_counts
from benchmarks.integrity.opening_bundles import BUNDLES
from benchmarks.integrity.opening_crowds import CROWDS
from benchmarks.integrity.opening_scene import Knobs
from benchmarks.integrity.openings import KINDS, draw_openings
from benchmarks.results import keep
from benchmarks.tables import print_table

_CHAINS = ("base", "solana")
_VARIANTS = {
    "a quarter of the traffic": Knobs(traffic=0.25),
    "default": Knobs(),
    "four times the traffic": Knobs(traffic=4),
    "no disguise": Knobs(disguise=0),
    "full disguise": Knobs(disguise=1),
}


def main() -> int:
    """Print all tables and store the result."""
    parser = argparse.ArgumentParser(description="Measure what the detector of bundles finds.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--launches", type=int, default=10, help="of each kind and seed")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

    chains = {}
    for chain in _CHAINS:
        measured = {kind: _measure(kind, chain, options, Knobs()) for kind in KINDS}
        _print_kinds(chain, measured)
        chains[chain] = {kind: counts.as_json() for kind, counts in _with_sums(measured).items()}
    variants = {name: _vary(options, knobs) for name, knobs in _VARIANTS.items()}
    _print_variants(variants)
    keep(
        "bundles",
        {
            "command": " ".join(["python -m benchmarks.integrity", *sys.argv[1:]]),
            "seeds": options.seeds,
            "launches": options.launches,
            "chains": chains,
            "variants of base": {
                name: {kind: counts.as_json() for kind, counts in measured.items()}
                for name, measured in variants.items()
            },
        },
    )
    return 0


def _measure(kind: str, chain: str, options: argparse.Namespace, knobs: Knobs) -> SeededCounts:
    measure_openings = import_module("benchmarks.integrity.opening_detection").measure_openings
    seeds = range(1, options.seeds + 1)
    return SeededCounts(
        [
            measure_openings(draw_openings(kind, chain=chain, seed=seed, count=options.launches, knobs=knobs))
            for seed in seeds
        ]
    )


def _vary(options: argparse.Namespace, knobs: Knobs) -> dict[str, SeededCounts]:
    return _sums({kind: _measure(kind, "base", options, knobs) for kind in KINDS})


def _sums(measured: Mapping[str, SeededCounts]) -> dict[str, SeededCounts]:
    return {
        "all bundles": join_counts(measured[kind] for kind in BUNDLES),
        "all crowds": join_counts(measured[kind] for kind in CROWDS),
    }


def _with_sums(measured: Mapping[str, SeededCounts]) -> dict[str, SeededCounts]:
    return dict(measured) | _sums(measured)


def _print_kinds(chain: str, measured: Mapping[str, SeededCounts]) -> None:
    head = (
        f"{chain}, all seeds", "bundled", "recall", "precision", "pairs of one actor", "pieces a bundle", "honest",
        "honest marked", "launches marked", "peer: recall", "precision", "honest marked",
    )  # fmt: skip
    rows = []
    for kind, one in _with_sums(measured).items():
        total = one.total
        rows.append(
            (
                kind,
                total.bundled or "",
                _percent(total.recall),
                _percent(total.precision) if total.bundled else "",
                _percent(total.pair_precision) if total.bundled else "",
                f"{total.pieces / total.bundles:.1f}" if total.bundles else "",
                total.honest,
                _percent(total.honest_share),
                _percent(total.launches_marked / total.launches),
                _percent(total.peer_recall),
                _percent(total.peer_precision) if total.bundled else "",
                _percent(total.peer_honest_share),
            )
        )
    print_table(head, rows)


def _print_variants(variants: Mapping[str, Mapping[str, SeededCounts]]) -> None:
    rows = [
        (
            name,
            _percent(measured["all bundles"].total.recall),
            _percent(measured["all bundles"].total.precision),
            _percent(measured["all bundles"].total.honest_share),
            _percent(measured["all crowds"].total.honest_share),
        )
        for name, measured in variants.items()
    ]
    print_table(("base", "recall", "precision", "honest marked, bundles", "honest marked, crowds"), rows)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


if __name__ == "__main__":
    sys.exit(main())
