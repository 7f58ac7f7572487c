"""Token dashboard: the panel sources."""

from config.operators.dashboard import PanelSource, register_panels
from tokens.admin.dashboard import documents, indexing, launches, launchpads, market_data
from tokens.admin.deploying_dashboard import deployments
from tokens.admin.following_dashboard import following
from tokens.admin.trades.trades_dashboard import trades

register_panels(
    PanelSource(sort_key=10, permission="tokens.view_token", read=launches),
    PanelSource(sort_key=20, permission="tokens.view_token", read=launchpads),
    PanelSource(sort_key=30, permission="tokens.view_deployment", read=deployments),
    PanelSource(sort_key=40, permission="tokens.view_chainhead", read=following),
    PanelSource(sort_key=70, permission="tokens.view_indexrequest", read=indexing),
    PanelSource(sort_key=80, permission="tokens.view_tokendocument", read=documents),
    PanelSource(sort_key=90, permission="tokens.view_chainhead", read=trades),
    PanelSource(sort_key=100, permission="tokens.view_token", read=market_data),
)
