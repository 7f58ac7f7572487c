import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    """Pending token configurations of version 0.2.0."""

    initial = True
    replaces = [
        ("pretokens", name)
        for name in """
        0001_pretokens 0002_roles 0003_room 0004_visible_keywords
        """.split()
    ]
    dependencies = [("accounts", "0001_version_0_2_0"), ("tokens", "0001_version_0_2_0")]

    operations = [
        migrations.CreateModel(
            name='Pretoken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('keyword', models.CharField(max_length=100)),
                ('keyword_key', models.CharField(max_length=300)),
                ('chain_id', models.BigIntegerField()),
                ('body', models.JSONField()),
                ('size', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('expired', 'Expired'), ('deleted', 'Deleted'), ('deployed', 'Deployed')], default='pending', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('deployment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pretoken', to='tokens.deployment')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pretokens', to='accounts.person')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['expires_at'], name='pretoken_expiring'), models.Index(fields=['-created_at', '-id'], name='pretoken_newest'), models.Index(fields=['keyword_key'], name='pretoken_keyword'), models.Index(fields=['owner', '-created_at'], include=('size',), name='pretoken_of_owner'), models.Index(condition=models.Q(('size__gt', 0), ('state__in', ['expired', 'deleted', 'deployed'])), fields=['expires_at'], name='pretoken_ended')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('owner', 'keyword_key'), name='pretoken_keyword_once_pending'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'expired', 'deleted', 'deployed'])), name='pretoken_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('deployment__isnull', False), ('state', 'deployed')), models.Q(models.Q(('state', 'deployed'), _negated=True), ('deployment__isnull', True)), _connector='OR'), name='pretoken_deployed_as_something'), models.CheckConstraint(condition=models.Q(models.Q(('deleted_at__isnull', False), ('state', 'deleted')), models.Q(models.Q(('state', 'deleted'), _negated=True), ('deleted_at__isnull', True)), _connector='OR'), name='pretoken_deleted_at_some_time'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='pretoken_lasts'), models.CheckConstraint(condition=models.Q(('keyword_key__regex', '\\S')), name='pretoken_keyword_not_blank')],
            },
        ),
    ]
