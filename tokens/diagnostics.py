"""Token checks for `manage.py doctor`, from each room."""

from config.doctor.findings import Check, register_checks
from tokens.deploying.diagnostics import wallets
from tokens.following.diagnostics import coverage, following
from tokens.installation.diagnostics import nodes
from tokens.uploads.diagnostics import storage

register_checks(
    Check(sort_key=130, name="nodes", run=nodes),
    Check(sort_key=140, name="uploads", run=storage),
    Check(sort_key=170, name="following", run=following, needs="migrations"),
    Check(sort_key=180, name="coverage", run=coverage, needs="migrations"),
    Check(sort_key=190, name="wallets", run=wallets, needs="migrations"),
)
