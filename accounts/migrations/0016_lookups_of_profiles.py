from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Upper


class Migration(migrations.Migration):
    """Lookups of profiles by user name and by verified address, from indexes built while the table is in use."""

    atomic = False
    dependencies = [("accounts", "0015_profiles_by_name")]

    operations = [
        AddIndexConcurrently("socialprofile", models.Index(Upper("username"), name="social_profile_by_username")),
        AddIndexConcurrently(
            "socialprofile",
            GinIndex(fields=["verified_addresses"], name="social_profile_by_address", fastupdate=False),
        ),
    ]
