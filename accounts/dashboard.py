"""Account dashboard: the panel sources."""

from accounts.admin.dashboard import partner_keys, profiles
from accounts.admin.events_dashboard import events
from config.operators.dashboard import PanelSource, register_panels

register_panels(
    PanelSource(sort_key=120, permission="accounts.view_webhookendpoint", read=events),
    PanelSource(sort_key=130, permission="accounts.view_socialprofile", read=profiles),
    PanelSource(sort_key=140, permission="accounts.view_partnerkey", read=partner_keys),
)
