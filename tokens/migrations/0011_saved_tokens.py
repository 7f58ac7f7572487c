"""Tokens that users say they have launched, and index requests of pages."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_roles_of_users'),
        ('tokens', '0010_roles_of_deploying'),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('tx_hash', models.CharField(max_length=100)),
                ('contract_address', models.CharField(max_length=44)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddField(
            model_name='indexrequest',
            name='from_page',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name='indexrequest',
            index=models.Index(condition=models.Q(('from_page', True), ('status', 'failed')), fields=['updated_at'], name='index_request_of_page'),
        ),
        migrations.AddField(
            model_name='savedtoken',
            name='person',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='saved_tokens', to='accounts.person'),
        ),
        migrations.AddIndex(
            model_name='savedtoken',
            index=models.Index(fields=['created_at'], name='saved_token_age'),
        ),
        migrations.AddIndex(
            model_name='savedtoken',
            index=models.Index(fields=['chain_id', 'tx_hash'], name='saved_token_by_transaction'),
        ),
        migrations.AddIndex(
            model_name='savedtoken',
            index=models.Index(fields=['contract_address'], name='saved_token_by_address'),
        ),
        migrations.AddConstraint(
            model_name='savedtoken',
            constraint=models.UniqueConstraint(fields=('person', 'chain_id', 'tx_hash', 'contract_address'), name='saved_token_once'),
        ),
    ]
