"""Permissions for the operators' groups. Migrations create the groups and may import this module.

A model that operators are to see later needs its own migration with `grant`.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from django.db.migrations import RunPython

# Issues, rotates and revokes keys, tags tokens, indexes transactions again.
OPERATOR = "operator"
# Has read access to the same pages.
SUPPORT = "support"


def grant(permissions: Mapping[str, Iterable[str]]) -> RunPython:
    """Return the migration operation that grants permissions to roles, such as `tokens.view_token`.

    In reverse it withdraws them, and deletes groups without permissions.
    """
    return RunPython(partial(_change_groups, _grant, permissions), partial(_change_groups, _withdraw, permissions))


def _change_groups(
    change: Callable[..., None], permissions: Mapping[str, Iterable[str]], apps: Any, schema_editor: Any
) -> None:
    for role, names in permissions.items():
        change(apps, role, names, using=schema_editor.connection.alias)


def _grant(apps: Any, role: str, permissions: Iterable[str], *, using: str) -> None:
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=role)
    # Django creates permissions after all migrations, and finds these later.
    group.permissions.add(*(_permission(apps, name, using) for name in permissions))


def _withdraw(apps: Any, role: str, permissions: Iterable[str], *, using: str) -> None:
    group = apps.get_model("auth", "Group").objects.using(using).filter(name=role).first()
    if group is None:
        return
    withdrawn = set(permissions)
    for permission in group.permissions.select_related("content_type"):
        if f"{permission.content_type.app_label}.{permission.codename}" in withdrawn:
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
