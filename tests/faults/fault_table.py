"""A run's result by fault: responses, failures, and the time until each request kind succeeds again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.chaos.harness import Span
from tests.faults.paced_load import Sample

# A kind has recovered after this many successes in sequence.
_RECOVERED = 5


@dataclass
class FaultRow:
    """What one fault kind did, over all times that it occurred."""

    times: int = 0
    # Its longest duration in seconds.
    seconds: float = 0.0
    requests: int = 0
    refused: int = 0
    failed: int = 0
    # Seconds from the fault's end to the slowest request kind's recovery, and that kind.
    recovery: float = 0.0
    slowest_kind: str = ""
    # Kinds without a recovery before the next fault.
    unrecovered: list[str] = field(default_factory=list)


def count_by_fault(spans: Sequence[Span], responses: Iterable[Sample], *, until: float) -> dict[str, FaultRow]:
    """Return a row for each fault kind; a response belongs to the fault that began before it was complete."""
    ordered = sorted(responses, key=lambda response: response.ended)
    rows: dict[str, FaultRow] = {}
    for number, span in enumerate(spans):
        after = spans[number + 1].began if number + 1 < len(spans) else until
        own = [response for response in ordered if span.began <= response.ended < after]
        row = rows.setdefault(span.name, FaultRow())
        row.times += 1
        row.seconds = max(row.seconds, round(span.ended - span.began, 1))
        row.requests += len(own)
        row.refused += sum(response.is_refusal for response in own)
        row.failed += sum(response.status != 200 and not response.is_refusal for response in own)
        for kind in sorted({response.kind for response in own}):
            seconds = recovery_seconds([response for response in own if response.kind == kind], span.ended)
            if seconds is None:
                row.unrecovered.append(kind)
            elif seconds >= row.recovery:
                row.recovery, row.slowest_kind = round(seconds, 2), kind
    return rows


def recovery_seconds(responses: Sequence[Sample], ended: float) -> float | None:
    """Return the seconds from a fault's end to the first success in five in sequence; None without them.

    Where nothing fails after the end, it is 0: rare requests may just not have been sent yet.
    """
    after = [response for response in responses if response.ended >= ended]
    if all(response.status == 200 for response in after):
        return 0.0
    run: list[Sample] = []
    for response in after:
        run = [*run, response] if response.status == 200 else []
        if len(run) == _RECOVERED:
            return run[0].ended - ended
    # Fewer remain before the next fault.
    return run[0].ended - ended if run else None
