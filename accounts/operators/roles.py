"""Groups for the operators' roles, and their permissions in the admin site."""

from typing import Any

from django.db import router, transaction

# Issues, rotates and revokes keys, tags tokens, indexes transactions again.
OPERATOR = "operator"
# Has read access to the same pages.
SUPPORT = "support"

# Both roles view these models. Operators also have the named actions: facts and rankings are read-only for all roles.
_ACTIONS = {
    "accounts.administrator": "add change delete",
    "accounts.adminsession": "change",
    "accounts.identity": "",
    "accounts.keyusage": "",
    "accounts.partnerkey": "add change",
    "accounts.person": "",
    "accounts.socialprofile": "",
    "accounts.webhookdelivery": "",
    "accounts.webhookendpoint": "add change delete",
    "admin.logentry": "",
    "events.event": "",
    "leaderboard.action": "",
    "leaderboard.agent": "add change",
    "leaderboard.agentwallet": "add change delete",
    "leaderboard.eventimport": "",
    "leaderboard.hubcast": "",
    "leaderboard.hubcursor": "",
    "leaderboard.interaction": "",
    "leaderboard.run": "",
    "leaderboard.snapshot": "",
    "leaderboard.socialaccount": "",
    "leaderboard.socialscore": "",
    "leaderboard.standing": "",
    "leaderboard.trade": "",
    "pretokens.pretoken": "change",
    "tokens.airdroptree": "",
    "tokens.chainhead": "",
    "tokens.coverage": "",
    "tokens.coveragealarm": "change",
    "tokens.deployattempt": "",
    "tokens.deployment": "change",
    "tokens.deployquota": "add change delete",
    "tokens.deployswitch": "add change",
    "tokens.deploywallet": "change",
    "tokens.feeclaim": "",
    "tokens.followedaccount": "",
    "tokens.indexrequest": "change",
    "tokens.launchfacts": "",
    "tokens.market": "",
    "tokens.poolbacklog": "change",
    "tokens.providerrefresh": "",
    "tokens.savedtoken": "",
    "tokens.savedtree": "delete",
    "tokens.signedtransaction": "",
    "tokens.spendinglimit": "add change delete",
    "tokens.token": "change",
    "tokens.tokendocument": "change",
    "tokens.tokenevent": "",
    "tokens.upload": "change",
}
# Role -> (app, model, action).
PERMISSIONS = {
    OPERATOR: [(*name.split("."), action) for name, more in _ACTIONS.items() for action in f"view {more}".split()],
    SUPPORT: [(*name.split("."), "view") for name in _ACTIONS],
}


def grant_permissions(*, apps: Any, using: str, **_: Any) -> None:
    """Grant each permission once, after `migrate`: to a new group, or when the permission itself is new.

    Changes by operators stay. The signal is the one for Django's auth app: the permissions of later apps do not exist
    yet, unless a former `migrate` created them.
    """
    if not router.allow_migrate(using, "auth"):
        return
    try:
        permissions, groups = (apps.get_model("auth", name).objects.using(using) for name in ("Permission", "Group"))
    except LookupError:
        # The tables of accounts are not migrated yet.
        return
    columns = ("content_type__app_label", "content_type__model", "codename")
    stored = set(permissions.values_list(*columns))
    with transaction.atomic(using=using):
        for role, names in PERMISSIONS.items():
            group, is_new = groups.get_or_create(name=role)
            group.permissions.add(
                *(
                    _permission(apps, app, model, action, using)
                    for app, model, action in names
                    if (is_new or (app, model, f"{action}_{model}") not in stored) and model in apps.all_models[app]
                )
            )


def _permission(apps: Any, app: str, model: str, action: str, using: str) -> Any:
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(using)
    content_type, _ = content_types.get_or_create(app_label=app, model=model)
    title = apps.get_model(app, model)._meta.verbose_name_raw
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    permission, _ = permissions.get_or_create(
        content_type=content_type, codename=f"{action}_{model}", defaults={"name": f"Can {action} {title}"}
    )
    return permission
