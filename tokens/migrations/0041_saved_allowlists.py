import django.db.models.deletion
from django.db import migrations, models

from accounts.operators import roles

PERMISSIONS = {
    roles.OPERATOR: ("tokens.view_savedtree", "tokens.delete_savedtree"),
    roles.SUPPORT: ("tokens.view_savedtree",),
}


class Migration(migrations.Migration):
    """Saved trees, which are of airdrops and of allow-lists; the tables keep their names."""

    dependencies = [("tokens", "0040_saved_airdrops"), ("accounts", "0004_roles")]

    operations = [
        migrations.AlterModelTable("SavedAirdrop", "tokens_savedairdrop"),
        migrations.AlterModelTable("SavedAirdropEntry", "tokens_savedairdropentry"),
        migrations.RenameModel("SavedAirdrop", "SavedTree"),
        migrations.RenameModel("SavedAirdropEntry", "SavedTreeEntry"),
        migrations.AlterField(
            "SavedTree",
            "partner_key",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="saved_trees",
                to="accounts.partnerkey",
            ),
        ),
        migrations.AddField(
            "SavedTree",
            "kind",
            models.CharField(
                choices=[("airdrop", "Airdrop"), ("allowlist", "Allow-list")],
                db_default="airdrop",
                default="airdrop",
                max_length=16,
            ),
        ),
        roles.grant(PERMISSIONS),
    ]
