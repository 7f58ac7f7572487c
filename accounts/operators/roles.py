"""Permissions of the operators' groups. Migrations create the groups and may import this module.

A model that operators are to see later needs a migration of its own that calls `grant_permissions`.
"""

from collections.abc import Iterable
from typing import Any

# Issues, rotates and revokes keys, tags tokens, indexes transactions again.
OPERATOR = "operator"
# Has read access to the same pages.
SUPPORT = "support"


def grant_permissions(apps: Any, *, role: str, permissions: Iterable[str], using: str) -> None:
    """Grant the group permissions of the form `app.action_model`, such as `tokens.view_token`; create it if missing.

    `apps` may be the registry of a migration. Django creates permissions after all migrations; missing ones are
    created here in the same form, and Django finds them later.
    """
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=role)
    group.permissions.add(*(_permission(apps, name, using) for name in permissions))


def withdraw_permissions(apps: Any, *, role: str, permissions: Iterable[str], using: str) -> None:
    """Remove what `grant_permissions` granted, and delete the group if it has no permissions left."""
    group = apps.get_model("auth", "Group").objects.using(using).filter(name=role).first()
    if group is None:
        return
    wanted = set(permissions)
    for permission in group.permissions.select_related("content_type"):
        if f"{permission.content_type.app_label}.{permission.codename}" in wanted:
            group.permissions.remove(permission)
    if not group.permissions.exists():
        group.delete()


def _permission(apps: Any, name: str, using: str) -> Any:
    app, _, codename = name.partition(".")
    action, _, model = codename.partition("_")
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(using)
    content_type, _ = content_types.get_or_create(app_label=app, model=model)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    title = apps.get_model(app, model)._meta.verbose_name_raw
    permission, _ = permissions.get_or_create(
        content_type=content_type, codename=codename, defaults={"name": f"Can {action} {title}"}
    )
    return permission
