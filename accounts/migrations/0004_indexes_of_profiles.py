from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import Coalesce, Collate, NullIf, Upper

from config.postgresql.case_folding import FoldCase


class Migration(migrations.Migration):
    """Profiles by user name, by the beginning of their folded name and by address: built while the table is in use."""

    replaces = [
        ("accounts", name)
        for name in "0015_profiles_by_name 0016_lookups_of_profiles 0019_profiles_by_folded_name".split()
    ]
    atomic = False
    dependencies = [("accounts", "0003_validated_disabled_by")]

    operations = [
        AddIndexConcurrently("socialprofile", models.Index(Upper("username"), name="social_profile_by_username")),
        AddIndexConcurrently(
            "socialprofile",
            GinIndex(fields=["verified_addresses"], name="social_profile_by_address", fastupdate=False),
        ),
        AddIndexConcurrently(
            "socialprofile",
            models.Index(
                Collate(FoldCase(Coalesce(NullIf(F("username"), Value("")), F("display_name"))), "C"),
                F("fid"),
                name="social_profile_by_folded_name",
            ),
        ),
    ]
