from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """An index of dev buys, built without blocking writers: deployments are accepted meanwhile."""

    atomic = False
    dependencies = [("tokens", "0021_spending_limits")]

    operations = [
        AddIndexConcurrently(
            "deployment",
            models.Index(
                condition=models.Q(("value__gt", 0)), fields=["chain_id", "created_at"], name="deployment_spending"
            ),
        ),
    ]
