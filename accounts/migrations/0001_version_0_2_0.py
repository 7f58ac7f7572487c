import accounts.models.profiles
import accounts.models.webhooks
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Keys, users, administrators, profiles and webhooks of version 0.2.0."""

    initial = True
    replaces = [
        ("accounts", name)
        for name in """
        0001_partner_keys 0002_social_profiles 0003_usage_and_limits 0004_roles 0005_users_and_administrators
        0006_roles_of_users 0007_scope_of_agents 0008_links_that_end 0009_one_link_each 0010_identities_by_kind
        0011_leased_profiles 0012_webhooks 0013_roles_of_webhooks 0014_indexes_of_deliveries
        """.split()
    ]
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name='PartnerKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Whose key this is, and for what.', max_length=100)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'Read'), ('index', 'Index'), ('deploy', 'Deploy'), ('agents', 'Agents'), ('scores', 'Scores'), ('webhooks', 'Webhooks')], max_length=16), size=None)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField(blank=True, help_text='From then on the key is refused.', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('calls_per_minute', models.PositiveIntegerField(blank=True, help_text='How many calls pass in a minute, 0 for any number; empty for the limit that all keys have.', null=True, validators=[django.core.validators.MaxValueValidator(1000000)])),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('name__regex', '\\S')), name='partner_key_name_not_blank', violation_error_message='The name must not be blank.'), models.CheckConstraint(condition=models.Q(('calls_per_minute__isnull', True), ('calls_per_minute__range', (0, 1000000)), _connector='OR'), name='partner_key_calls_per_minute_range', violation_error_message='Calls per minute must be from 0 to 1000000.'), models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['read', 'index', 'deploy', 'agents', 'scores', 'webhooks']), ('scopes__len__gte', 1)), name='partner_key_scopes_known', violation_error_message='Scopes must be one or more of read, index, deploy, agents, scores, webhooks.')],
            },
        ),
        migrations.CreateModel(
            name='PartnerKeySecret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key_id', models.CharField(max_length=8)),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(null=True)),
                ('partner_key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='accounts.partnerkey')),
            ],
            options={
                'indexes': [models.Index(fields=['partner_key', '-id'], name='partner_key_secret_newest')],
                'constraints': [models.UniqueConstraint(fields=('key_id',), name='partner_key_secret_key_id_unique'), models.CheckConstraint(condition=models.Q(('key_id__regex', '^[0-9A-Za-z]{8}$')), name='partner_key_secret_key_id_form'), models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='partner_key_secret_digest_form')],
            },
        ),
        migrations.CreateModel(
            name='SocialProfile',
            fields=[
                ('fid', models.BigIntegerField(primary_key=True, serialize=False)),
                ('username', models.TextField(blank=True)),
                ('display_name', models.TextField(blank=True)),
                ('pfp_url', models.TextField(blank=True)),
                ('bio', models.TextField(blank=True)),
                ('verified_addresses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=44), blank=True, default=accounts.models.profiles._no_addresses, size=None)),
                ('score', models.FloatField(blank=True, null=True)),
                ('fetched_at', models.DateTimeField(blank=True, null=True)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('attempts', models.PositiveIntegerField(db_column='misses', db_default=0, default=0)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('fetched_at__isnull', True)), fields=['due_at'], name='social_profile_new_due'), models.Index(condition=models.Q(('fetched_at__isnull', False)), fields=['due_at'], name='social_profile_known_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('fid__gt', 0)), name='social_profile_fid_positive'), models.CheckConstraint(condition=models.Q(('score__isnull', True), ('score__range', (0, 1)), _connector='OR'), name='social_profile_score_range')],
            },
        ),
        migrations.CreateModel(
            name='KeyUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('endpoint', models.TextField()),
                ('calls', models.PositiveBigIntegerField()),
                ('partner_key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='usage', to='accounts.partnerkey')),
            ],
            options={
                'indexes': [models.Index(fields=['day'], name='key_usage_day')],
                'constraints': [models.UniqueConstraint(fields=('partner_key', 'day', 'endpoint'), name='key_usage_once')],
            },
        ),
        migrations.CreateModel(
            name='UsageBatch',
            fields=[
                ('name', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='Administrator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Who this is.', max_length=100)),
                ('issuer', models.CharField(help_text="What the issuer's tokens have as iss.", max_length=200)),
                ('subject', models.CharField(help_text="What the person's tokens have as sub; of the social protocol the FID.", max_length=255)),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'ordering': ['name', 'id'],
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='administrator_issuer_subject_unique', violation_error_message='This person is an administrator already.'), models.CheckConstraint(condition=models.Q(('name__regex', '\\S')), name='administrator_name_not_blank', violation_error_message='The name must not be blank.')],
            },
        ),
        migrations.CreateModel(
            name='Person',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('last_seen_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('fid', models.BigIntegerField(blank=True, null=True)),
                ('linked_to', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='linked', to='accounts.person')),
                ('linked_until', models.DateTimeField(blank=True, null=True)),
                ('told_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'user',
                'constraints': [models.UniqueConstraint(fields=('fid',), name='person_fid_unique'), models.CheckConstraint(condition=models.Q(('fid__isnull', True), ('fid__gt', 0), _connector='OR'), name='person_fid_positive'), models.CheckConstraint(condition=models.Q(('linked_to__isnull', True), ('fid__isnull', True), _connector='OR'), name='person_linked_has_no_fid'), models.CheckConstraint(condition=models.Q(models.Q(('linked_to__isnull', True), ('linked_until__isnull', True)), models.Q(('linked_to__isnull', False), ('linked_until__isnull', False), ('told_at__isnull', False)), _connector='OR'), name='person_link_ends')],
            },
        ),
        migrations.CreateModel(
            name='Identity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=200)),
                ('subject', models.CharField(max_length=255)),
                ('kind', models.CharField(choices=[('fid', 'FID'), ('id', 'id')], max_length=8)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='identities', to='accounts.person')),
            ],
            options={
                'verbose_name_plural': 'identities',
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['fid', 'id'])), name='identity_kind_known'), models.UniqueConstraint(fields=('issuer', 'subject', 'kind'), name='identity_unique')],
            },
        ),
        migrations.CreateModel(
            name='AdminSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('password_hash', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('administrator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='accounts.administrator')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'administrator session',
                'indexes': [models.Index(fields=['expires_at'], name='admin_session_expiry')],
                'constraints': [models.UniqueConstraint(fields=('digest',), name='admin_session_digest_unique'), models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='admin_session_digest_form'), models.CheckConstraint(condition=models.Q(models.Q(('administrator__isnull', False), ('password_hash', ''), ('user__isnull', True)), models.Q(('administrator__isnull', True), ('user__isnull', False), models.Q(('password_hash', ''), _negated=True)), _connector='OR'), name='admin_session_of_one')],
            },
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField(max_length=2048)),
                ('description', models.CharField(blank=True, max_length=200)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), blank=True, default=accounts.models.webhooks._no_list, size=None)),
                ('chain_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=accounts.models.webhooks._no_ids, size=None)),
                ('email', models.EmailField(blank=True, help_text='Gets a mail before and after the endpoint is disabled for failures.', max_length=254)),
                ('salt', models.BinaryField(default=accounts.models.webhooks.new_salt)),
                ('previous_salt', models.BinaryField(null=True)),
                ('previous_expires_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('disabled_at', models.DateTimeField(blank=True, null=True)),
                ('disabled_reason', models.TextField(blank=True)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('warned_at', models.DateTimeField(blank=True, null=True)),
                ('paused_until', models.DateTimeField(blank=True, null=True)),
                ('partner_key', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='webhook_endpoints', to='accounts.partnerkey')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
                ('event_id', models.BigIntegerField(null=True)),
                ('event_type', models.CharField(max_length=32)),
                ('reason', models.CharField(choices=[('event', 'Event'), ('replay', 'Replay'), ('test', 'Test')], max_length=8)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='pending', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('log', models.JSONField(default=list)),
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='accounts.webhookendpoint')),
            ],
            options={
                'verbose_name_plural': 'webhook deliveries',
                'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'due_at'], name='webhook_delivery_due'), models.Index(condition=models.Q(('status', 'pending')), fields=['due_at'], name='webhook_queue_due'), models.Index(fields=['endpoint', '-id'], name='webhook_delivery_newest'), models.Index(fields=['endpoint', 'event_id'], name='webhook_delivery_by_event'), models.Index(fields=['endpoint', 'status', '-id'], name='webhook_delivery_newest_by'), models.Index(condition=models.Q(('status__in', ['failed', 'cancelled'])), fields=['status', '-id'], name='webhook_delivery_by_status'), models.Index(condition=models.Q(('reason__in', ['replay', 'test'])), fields=['reason', '-id'], name='webhook_delivery_by_reason')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'delivered', 'failed', 'cancelled'])), name='webhook_delivery_status_known')],
            },
        ),
        # Installations have the constraint under this name: the field was another one before.
        migrations.RunSQL(
            "ALTER TABLE accounts_person"
            " RENAME CONSTRAINT accounts_person_linked_to_id_key TO accounts_person_linked_to_id_a5fd2a14_uniq"
        ),
    ]
