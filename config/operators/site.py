"""Admin site appearance and navigation, as django-unfold's setting UNFOLD."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse_lazy

from config.operators.local_times import zone_label
from config.site.assets import asset_url


def _may_see(permission: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.user.has_perm(permission)


def _list(title: str, icon: str, model: str) -> dict[str, Any]:
    """Return a navigation entry for a model, by "app.model"; visible to operators with permission to view its rows."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": _may_see(f"{app}.view_{name}"),
    }


def _site_name(request: HttpRequest) -> str:
    return str(settings.SITE_NAME)


def _own_icon(request: HttpRequest) -> str:
    """Return the URL of the installation's own icon; empty without one."""
    return asset_url("icon") if settings.SITE_ICON else ""


def _group(title: str, *lists: dict[str, Any]) -> dict[str, Any]:
    """Return a group of navigation entries, below a line."""
    return {"title": title, "separator": True, "items": [*lists]}


# Models that are not listed here are under "All applications", visible to superusers.
_NAVIGATION = [
    {"items": [{"title": "Dashboard", "icon": "monitoring", "link": reverse_lazy("admin:index")}]},
    _group(
        "Launches",
        _list("Tokens", "toll", "tokens.token"),
        _list("Events", "timeline", "tokens.tokenevent"),
        _list("Fees paid", "payments", "tokens.feeclaim"),
        _list("Saved by users", "bookmark", "tokens.savedtoken"),
        _list("Index requests", "manage_search", "tokens.indexrequest"),
        _list("Documents", "description", "tokens.tokendocument"),
        _list("Market data", "show_chart", "tokens.providerrefresh"),
        _list("Deployers' profiles", "group", "accounts.socialprofile"),
    ),
    _group(
        "Deploying",
        _list("Deployments", "rocket", "tokens.deployment"),
        _list("Pretokens", "pending_actions", "pretokens.pretoken"),
        _list("Uploads", "upload", "tokens.upload"),
        _list("Wallets", "account_balance_wallet", "tokens.deploywallet"),
        _list("Pauses", "pause_circle", "tokens.deployswitch"),
        _list("Quotas", "speed", "tokens.deployquota"),
        _list("Spending limits", "account_balance", "tokens.spendinglimit"),
        _list("Saved trees", "account_tree", "tokens.savedtree"),
    ),
    _group(
        "Agents",
        _list("Agents", "smart_toy", "leaderboard.agent"),
        _list("Rankings", "leaderboard", "leaderboard.standing"),
        _list("Imports", "upload_file", "leaderboard.eventimport"),
        _list("Hub: casts of agents", "cloud_download", "leaderboard.hubcursor"),
        _list("Hub: interactions of casts", "forum", "leaderboard.hubcast"),
        _list("Hub: reported quotes", "format_quote", "leaderboard.hubquote"),
    ),
    _group(
        "Following",
        _list("Chains", "link", "tokens.chainhead"),
        _list("Coverage", "data_usage", "tokens.coverage"),
        _list("Accounts of Solana", "account_tree", "tokens.followedaccount"),
        _list("Coverage alarms", "notification_important", "tokens.coveragealarm"),
    ),
    _group(
        "Events",
        _list("Endpoints", "webhook", "accounts.webhookendpoint"),
        _list("Deliveries", "outgoing_mail", "accounts.webhookdelivery"),
        _list("Published events", "event_list", "events.event"),
    ),
    _group("Partners", _list("Partner keys", "key", "accounts.partnerkey")),
    _group("Users", _list("Users", "person", "accounts.person")),
    _group(
        "Operators",
        _list("Accounts", "badge", "auth.user"),
        _list("Administrators", "verified_user", "accounts.administrator"),
        _list("Administrators' sessions", "cookie", "accounts.adminsession"),
        _list("Roles", "shield_person", "auth.group"),
        _list("Audit log", "history", "admin.logentry"),
    ),
]

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": _site_name,
    "SITE_HEADER": _site_name,
    "SITE_SUBHEADER": "Operators' site",
    "SITE_ICON": _own_icon,
    # If the installation has no icon.
    "SITE_SYMBOL": "rocket_launch",
    "SITE_FAVICONS": [{"rel": "icon", "href": lambda request: asset_url("icon")}],
    "STYLES": [lambda request: asset_url("operators.css")],
    "SCRIPTS": [lambda request: asset_url("time-zone.js")],
    "ENVIRONMENT": zone_label,
    "SITE_URL": "/",
    "LOGIN": {"form": "accounts.operators.login_form.LoginForm"},
    "DASHBOARD_CALLBACK": "config.operators.dashboard.add_panels",
    "ACCOUNT": {"navigation": [{"title": "Second factor", "link": reverse_lazy("second-factor-set-up")}]},
    "SIDEBAR": {
        "navigation": _NAVIGATION,
        "show_all_applications": lambda request: request.user.is_superuser,
    },
}
