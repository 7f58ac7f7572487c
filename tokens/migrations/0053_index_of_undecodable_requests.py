from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Index for the alert of undecodable index requests, built without a lock."""

    atomic = False
    dependencies = [("tokens", "0052_undecodable_requests")]

    operations = [
        AddIndexConcurrently(
            "indexrequest",
            models.Index(
                condition=models.Q(("status", "failed"), ("undecodable", True)),
                fields=["chain_id"],
                name="index_request_undecodable",
            ),
        ),
    ]
