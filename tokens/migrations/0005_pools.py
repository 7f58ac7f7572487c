import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    """Pools of tokens with several, and backlogs of pools whose logs are missing; 0017 adds those of stored tokens."""

    replaces = [("tokens", name) for name in "0050_pool_backlogs 0057_token_pools".split()]
    dependencies = [("tokens", "0004_claim_sums")]

    operations = [
        migrations.CreateModel(
            name='PoolBacklog',
            fields=[
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pool_backlog', serialize=False, to='tokens.token')),
                ('next_block', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['due_at'], name='pool_backlog_due')],
            },
        ),
        migrations.CreateModel(
            name='TokenPool',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'pool_address', blank=True, editable=False, primary_key=True, serialize=False)),
                ('pool_address', models.CharField(max_length=66)),
                ('is_currency0', models.BooleanField(null=True)),
                ('hook', models.CharField(blank=True, db_default='', default='', max_length=44)),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pools', to='tokens.token')),
            ],
            options={
                'indexes': [models.Index(fields=['pool_address'], name='token_pool_by_address')],
            },
        ),
    ]
