"""Account checks for `manage.py doctor`."""

from accounts.keys.diagnostics import partner_keys
from config.doctor.findings import Check, register_checks

register_checks(Check(sort_key=200, name="keys", run=partner_keys, needs="migrations"))
