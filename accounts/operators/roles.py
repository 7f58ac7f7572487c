"""What groups of operators may do. Migrations make the groups, and may take what they grant from here.

A model that operators are to see later needs a migration of its own that calls `grant`.
"""

from collections.abc import Iterable
from typing import Any

# Issues, rotates and revokes keys, tags tokens, has transactions indexed again.
OPERATOR = "operator"
# Looks at the same, and changes nothing.
SUPPORT = "support"


def grant(apps: Any, *, role: str, permissions: Iterable[str], using: str) -> None:
    """Let the group, which is made where there is none, do this: `app.action_model`, such as `tokens.view_token`.

    `apps` may be those of a migration. Django makes permissions when all migrations are through; those that are
    missing yet are made here as it would make them, and found by it then.
    """
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=role)
    group.permissions.add(*(_permission(apps, name, using) for name in permissions))


def withdraw(apps: Any, *, role: str, permissions: Iterable[str], using: str) -> None:
    """Take from the group what `grant` gave it, and the group itself away where it may do nothing else."""
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
