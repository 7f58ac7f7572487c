"""The compiled contracts, as compile.mjs wrote them into artifacts/."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent / "artifacts"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A contract's interface, and the code that creates it (0x-prefixed, without constructor arguments)."""

    name: str
    abi: list[dict[str, Any]]
    bytecode: str


@cache
def load(name: str) -> Artifact:
    """The artifact of the contract of this name, such as "Factory". Raises FileNotFoundError where there is none."""
    content = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Artifact(name=content["contractName"], abi=content["abi"], bytecode=content["bytecode"])
