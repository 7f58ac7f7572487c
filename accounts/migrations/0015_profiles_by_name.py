from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import Coalesce, Collate, Lower, NullIf


class Migration(migrations.Migration):
    """Profiles by the beginning of their name, by an index that is built while the table is in use."""

    atomic = False
    dependencies = [("accounts", "0014_indexes_of_deliveries")]

    operations = [
        AddIndexConcurrently(
            "socialprofile",
            models.Index(
                Collate(
                    Lower(
                        Coalesce(NullIf(F("username"), Value("")), F("display_name")), output_field=models.TextField()
                    ),
                    "C",
                ),
                F("fid"),
                name="social_profile_by_name",
            ),
        ),
    ]
