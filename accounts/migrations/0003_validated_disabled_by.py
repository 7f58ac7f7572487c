from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    """Validation of the values that say who disabled an endpoint: writers go on."""

    replaces = [("accounts", "0021_validated_disabled_by")]
    dependencies = [("accounts", "0002_disabled_by")]

    operations = [ValidateConstraint("webhookendpoint", "webhook_endpoint_disabled_by_known")]
