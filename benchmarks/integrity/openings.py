"""Launch openings by kind, whose bundles are known. The author had read the definition, but not the detector's code.

The definition is `docs/integrity.md`. Behaviour is from public descriptions: bundlers with 3 to 68 wallets with one fee
in consecutive transactions, Jito bundles with five transactions, bots that buy in the next block part, copying bots
with a shared fee, CoW settlements, ERC-4337 operations and sandwiches. Shares and rates are estimates, and are not
measured: the values in `Knobs` can be varied.
"""

from dataclasses import replace

import numpy as np

from benchmarks.integrity.opening_bundles import BUNDLES
from benchmarks.integrity.opening_chain import BASE, SOLANA, Opening, build_opening
from benchmarks.integrity.opening_crowds import CROWDS
from benchmarks.integrity.opening_scene import Knobs, Scene

KINDS = (*BUNDLES, *CROWDS)
_CHAINS = {chain.name: chain for chain in (BASE, SOLANA)}
_DEFAULTS = Knobs()


def draw_openings(kind: str, *, chain: str, seed: int, count: int, knobs: Knobs = _DEFAULTS) -> list[Opening]:
    """Return this many openings for a kind (`KINDS`) on `base` or `solana`; the same arguments return the same ones."""
    rng = np.random.default_rng([seed, KINDS.index(kind), *chain.encode()])
    basis = _CHAINS[chain]
    crowded = replace(basis, traffic=basis.traffic * knobs.traffic)
    openings = []
    for _ in range(count):
        scene = Scene(rng, crowded, knobs)
        (BUNDLES | CROWDS)[kind](scene)
        openings.append(build_opening(rng, crowded, scene.orders, is_v4=scene.is_drawn(knobs.v4)))
    return openings
