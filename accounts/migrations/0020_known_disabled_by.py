from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Known values of the column that says who disabled an endpoint. 0021 validates the constraint, without a lock."""

    dependencies = [("accounts", "0019_profiles_by_folded_name")]

    operations = [
        AddConstraintNotValid(
            "webhookendpoint",
            models.CheckConstraint(
                condition=Q(disabled_by__in=["", "owner", "operator", "service"]),
                name="webhook_endpoint_disabled_by_known",
            ),
        ),
    ]
