"""A standing's score and discounts, rendered for operators: figures, a chart and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from accounts.models import SocialProfile
from config.operators.dashboard import Chart
from leaderboard.models import Standing
from leaderboard.models.snapshots import AUDIENCE_EVIDENCE

# https://docs.farcaster.xyz/reference/farcaster/intent-urls
_PROFILE = "https://farcaster.xyz/~/profiles/{}"
_FIGURES = {
    "accounts": "accounts",
    "interactions": "interactions",
    "weight": "their weight, with what accounts of a stricter discount count",
    "independent": "weight of the agent's other accounts, which counts in full",
    "limit": "limit of what these accounts count together",
    "counted": "weight that counts: weight × limit ÷ (weight + limit)",
}


@dataclass(frozen=True, kw_only=True)
class AccountRow:
    """Table row for an account: profile link, interactions with the agent and social score."""

    text: str
    page: str
    interactions: str
    score: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """Page section about the score or one discount."""

    title: str
    about: str = ""
    figures: tuple[tuple[str, str], ...] = ()
    charts: tuple[Chart, ...] = ()
    accounts: tuple[AccountRow, ...] = ()


def render_evidence(standing: Standing) -> str:
    """Render a standing's score components and its flags' evidence as HTML."""
    accounts = [row for evidence in standing.evidence.values() for row in _listed(evidence)]
    rows = SocialProfile.objects.filter(fid__in=[row.get("fid") for row in accounts]).exclude(username="")
    people = dict(rows.values_list("fid", "username"))
    discounts = [(flag, evidence) for flag, evidence in sorted(standing.evidence.items()) if flag != AUDIENCE_EVIDENCE]
    sections = [_components(standing), *(_discount(flag, evidence, people) for flag, evidence in discounts)]
    return render_to_string("leaderboard/evidence.html", {"sections": sections})


def _components(standing: Standing) -> Section:
    bars = tuple((name, round(100 * value)) for name, value in sorted(standing.components.items()))
    return Section(
        title=f"Score; discounts: {', '.join(standing.wash_flags) or 'none'}",
        about="Discounted accounts count only up to a limit. The rest of the score is not affected.",
        figures=(
            ("composite", f"{standing.composite:.2f} of 100"),
            ("share of the audience that does not count", f"{standing.wash_confidence:.3f}"),
            *(
                (f"audience: {name}", f"{value:,.6g}")
                for name, value in standing.evidence.get(AUDIENCE_EVIDENCE, {}).items()
            ),
            *((name, f"{value:.3f}") for name, value in sorted(standing.components.items())),
        ),
        charts=(Chart(title="Components in percent", bars=bars, start=bars[0][0], end=bars[-1][0]),) if bars else (),
    )


def _discount(flag: str, evidence: Mapping[str, Any], people: Mapping[int, str]) -> Section:
    return Section(
        title=flag,
        about=str(evidence.get("meaning", "")),
        figures=tuple((label, f"{evidence[name]:,.6g}") for name, label in _FIGURES.items() if "meaning" in evidence),
        accounts=tuple(
            AccountRow(
                text=f"{row['fid']} @{people[row['fid']]}" if row["fid"] in people else str(row["fid"]),
                page=_PROFILE.format(row["fid"]),
                interactions=str(row["interactions"]),
                score="unknown" if row["score"] is None else f"{row['score']:.3g}",
            )
            for row in _listed(evidence)
        ),
    )


def _listed(evidence: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the accounts in a flag's evidence; none for a flag from an earlier version, which had other keys."""
    return evidence["listed"] if "meaning" in evidence else ()
