from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    """Validation of the kinds of events: writers go on."""

    dependencies = [("tokens", "0058_kinds_of_declared_events")]

    operations = [ValidateConstraint("tokenevent", "token_event_kind_known")]
