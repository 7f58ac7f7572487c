import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    """Trees of airdrops and allow-lists that partners save, and their uploads."""

    replaces = [("tokens", name) for name in "0040_saved_airdrops 0041_saved_allowlists 0042_uploads".split()]
    dependencies = [("tokens", "0001_version_0_2_0")]

    operations = [
        migrations.CreateModel(
            name='SavedTree',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('root', models.CharField(max_length=66)),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('entry_count', models.PositiveIntegerField()),
                ('nodes', models.BinaryField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('partner_key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='saved_trees', to='accounts.partnerkey')),
                ('kind', models.CharField(choices=[('airdrop', 'Airdrop'), ('allowlist', 'Allow-list')], db_default='airdrop', default='airdrop', max_length=16)),
            ],
            options={
                'indexes': [models.Index(fields=['root'], name='saved_airdrop_root')],
                'constraints': [models.UniqueConstraint(fields=('partner_key', 'root'), name='saved_airdrop_once')],
                'db_table': 'tokens_savedairdrop',
            },
        ),
        migrations.CreateModel(
            name='SavedTreeEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(max_length=44)),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('position', models.PositiveIntegerField()),
                ('tree', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='tokens.savedtree')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tree', 'account'), name='saved_airdrop_entry_once')],
                'db_table': 'tokens_savedairdropentry',
            },
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('kind', models.CharField(choices=[('picture', 'Picture'), ('metadata', 'Metadata')], max_length=8)),
                ('storage', models.CharField(choices=[('directory', 'Directory'), ('s3', 'S3'), ('pinning', 'Pinning')], max_length=9)),
                ('size', models.PositiveIntegerField()),
                ('url', models.CharField(max_length=2048)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('blocked_at', models.DateTimeField(null=True)),
                ('partner_key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='uploads', to='accounts.partnerkey')),
            ],
            options={
                'indexes': [models.Index(fields=['partner_key', 'created_at'], name='upload_quota')],
                'constraints': [models.UniqueConstraint(fields=('digest',), name='upload_once'), models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='upload_digest_form'), models.CheckConstraint(condition=models.Q(('kind__in', ['picture', 'metadata'])), name='upload_kind_known'), models.CheckConstraint(condition=models.Q(('storage__in', ['directory', 's3', 'pinning'])), name='upload_storage_known')],
            },
        ),
        # A proof is a few nodes out of megabytes: a compressed value would be read and unpacked whole for each of them.
        migrations.RunSQL("ALTER TABLE tokens_savedairdrop ALTER COLUMN nodes SET STORAGE EXTERNAL"),
    ]
