"""Account dashboard: the panel sources."""

from accounts.admin.dashboard import partner_keys, profiles
from accounts.admin.events_dashboard import events
from config.operators.dashboard import PanelSource, register_panels

register_panels(
    PanelSource(place=120, permission="accounts.view_webhookendpoint", read=events),
    PanelSource(place=130, permission="accounts.view_socialprofile", read=profiles),
    PanelSource(place=140, permission="accounts.view_partnerkey", read=partner_keys),
)
