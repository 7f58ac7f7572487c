"""Limits and flags of an accusation, for readers of standings that compute none."""

# Agents with at least this confidence are accused.
ACCUSED = 0.5
# A detector raises its flag if it would give at least this confidence on its own. Detectors below it cannot reach
# ACCUSED together, so no agent is accused without a flag.
FLAG_SHARE = 0.1
# Flag of an agent that is not accused for lack of data.
INSUFFICIENT_DATA = "INSUFFICIENT_DATA"
