"""Counts for what the detector marked and for the truth, their shares, and their sums over seeds."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

SHARES = (
    "recall", "precision", "honest_share", "pair_precision", "peer_recall", "peer_precision", "peer_honest_share",
)  # fmt: skip


@dataclass(frozen=True)
class BundleCounts:
    """Counts of purchases and purchase pairs, which can be added."""

    # Purchases in one actor's bundles with two or more in the opening, and how many are marked.
    bundled: int = 0
    bundled_marked: int = 0
    # All others.
    honest: int = 0
    honest_marked: int = 0
    # The same for a peer: two purchases in one block are a bundle.
    peer_bundled: int = 0
    peer_honest: int = 0
    # Purchase pairs within one found bundle, and one actor's pairs among them.
    pairs: int = 0
    true_pairs: int = 0
    # Launches, launches with a found bundle, found bundles that contain an actor's purchase, and actors' bundles.
    launches: int = 0
    launches_marked: int = 0
    pieces: int = 0
    bundles: int = 0

    def __add__(self, other: "BundleCounts") -> "BundleCounts":
        return BundleCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def recall(self) -> float | None:
        """Share of bundled purchases that are marked."""
        return _share(self.bundled_marked, self.bundled)

    @property
    def precision(self) -> float | None:
        """Share of marked purchases that are bundled."""
        return _share(self.bundled_marked, self.bundled_marked + self.honest_marked)

    @property
    def honest_share(self) -> float | None:
        """Share of honest purchases that are marked."""
        return _share(self.honest_marked, self.honest)

    @property
    def peer_recall(self) -> float | None:
        """Share of bundled purchases that the peer marks."""
        return _share(self.peer_bundled, self.bundled)

    @property
    def peer_precision(self) -> float | None:
        """Share of the peer's marked purchases that are bundled."""
        return _share(self.peer_bundled, self.peer_bundled + self.peer_honest)

    @property
    def peer_honest_share(self) -> float | None:
        """Share of honest purchases that the peer marks."""
        return _share(self.peer_honest, self.honest)

    @property
    def pair_precision(self) -> float | None:
        """Share of pairs within found bundles that have one actor."""
        return _share(self.true_pairs, self.pairs)


@dataclass(frozen=True)
class SeededCounts:
    """A launch kind's counts by seed."""

    by_seed: list[BundleCounts]

    @property
    def total(self) -> BundleCounts:
        """Return the counts for all seeds together."""
        return sum(self.by_seed, BundleCounts())

    def as_json(self) -> dict[str, Any]:
        """Return counts and shares for all seeds, and the lowest and the highest share for a seed."""
        shares = {name: getattr(self.total, name) for name in SHARES}
        ranges = {name: self._range(name) for name in ("recall", "precision", "honest_share")}
        return {**asdict(self.total), **shares, "ranges": ranges}

    def _range(self, name: str) -> list[float] | None:
        values = [value for counts in self.by_seed if (value := getattr(counts, name)) is not None]
        return [min(values), max(values)] if values else None


def join_counts(several: Iterable[SeededCounts]) -> SeededCounts:
    """Return several kinds' counts together, by seed."""
    return SeededCounts([sum(counts, BundleCounts()) for counts in zip(*(one.by_seed for one in several), strict=True)])


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
