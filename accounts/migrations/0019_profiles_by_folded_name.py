from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import Coalesce, Collate, NullIf

from config.postgresql.case_folding import FoldCase


class Migration(migrations.Migration):
    """Profiles by the beginning of their folded name, by an index that is built while the table is in use."""

    atomic = False
    dependencies = [("accounts", "0018_fold_case")]

    operations = [
        AddIndexConcurrently(
            "socialprofile",
            models.Index(
                Collate(FoldCase(Coalesce(NullIf(F("username"), Value("")), F("display_name"))), "C"),
                F("fid"),
                name="social_profile_by_folded_name",
            ),
        ),
        RemoveIndexConcurrently("socialprofile", "social_profile_by_name"),
    ]
