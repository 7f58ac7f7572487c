"""Token dashboard: the panel sources."""

from config.operators.dashboard import PanelSource, register_panels
from tokens.admin.dashboard import documents, indexing, launches, launchpads, market_data
from tokens.admin.deploying_dashboard import deployments
from tokens.admin.following_dashboard import following
from tokens.admin.trades.trades_dashboard import trades

register_panels(
    PanelSource(place=10, permission="tokens.view_token", read=launches),
    PanelSource(place=20, permission="tokens.view_token", read=launchpads),
    PanelSource(place=30, permission="tokens.view_deployment", read=deployments),
    PanelSource(place=40, permission="tokens.view_chainhead", read=following),
    PanelSource(place=70, permission="tokens.view_indexrequest", read=indexing),
    PanelSource(place=80, permission="tokens.view_tokendocument", read=documents),
    PanelSource(place=90, permission="tokens.view_chainhead", read=trades),
    PanelSource(place=100, permission="tokens.view_token", read=market_data),
)
