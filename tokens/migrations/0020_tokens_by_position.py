from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Index of the tokens of a shared locker by position, which contains the former one by locker."""

    # Built while tokens are read and written.
    atomic = False

    dependencies = [("tokens", "0019_roles_of_markets")]

    operations = [
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["locker_address", "position_id"], name="token_by_locker_position", condition=~Q(position_id="")
            ),
        ),
        RemoveIndexConcurrently("token", "token_by_locker"),
    ]
