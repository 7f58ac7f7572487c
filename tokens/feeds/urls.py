"""Feed URLs: a base URL for each format, and for each chain if the format covers one chain."""

from config.web.routing import endpoint
from tokens.feeds import views
from tokens.feeds.charts import views as chart_views

_SCREENER, _TOOLS = "dexscreener/<str:chainId>", "dextools/<str:chainId>"

urlpatterns = [
    endpoint(f"{_SCREENER}/latest-block", views.ScreenerLatestBlockView.as_view(), name="screener-latest-block"),
    endpoint(f"{_SCREENER}/asset", views.ScreenerAssetView.as_view(), name="screener-asset"),
    endpoint(f"{_SCREENER}/pair", views.ScreenerPairView.as_view(), name="screener-pair"),
    endpoint(f"{_SCREENER}/events", views.ScreenerEventsView.as_view(), name="screener-events"),
    endpoint(f"{_TOOLS}/latest-block", views.ToolsLatestBlockView.as_view(), name="tools-latest-block"),
    endpoint(f"{_TOOLS}/block", views.ToolsBlockView.as_view(), name="tools-block"),
    endpoint(f"{_TOOLS}/asset", views.ToolsAssetView.as_view(), name="tools-asset"),
    endpoint(f"{_TOOLS}/asset/holders", views.ToolsHoldersView.as_view(), name="tools-holders"),
    endpoint(f"{_TOOLS}/exchange", views.ToolsExchangeView.as_view(), name="tools-exchange"),
    endpoint(f"{_TOOLS}/pair", views.ToolsPairView.as_view(), name="tools-pair"),
    endpoint(f"{_TOOLS}/events", views.ToolsEventsView.as_view(), name="tools-events"),
    endpoint("udf/config", chart_views.ChartConfigView.as_view(), name="udf-config"),
    endpoint("udf/time", chart_views.ChartTimeView.as_view(), name="udf-time"),
    endpoint("udf/symbols", chart_views.ChartSymbolView.as_view(), name="udf-symbols"),
    endpoint("udf/search", chart_views.ChartSearchView.as_view(), name="udf-search"),
    endpoint("udf/history", chart_views.ChartHistoryView.as_view(), name="udf-history"),
    endpoint("daily/<str:chainId>", views.DayFeedView.as_view(), name="daily-sums"),
]
