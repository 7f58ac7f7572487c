from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Tokens that have paid a recipient: an index that is built without a lock."""

    atomic = False
    dependencies = [("tokens", "0069_filled_error_codes")]

    operations = [
        AddIndexConcurrently("claimsum", models.Index(fields=["recipient", "token"], name="claim_sum_by_recipient")),
    ]
