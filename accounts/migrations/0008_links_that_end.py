"""Links of users that last no longer than what proves them, and a person for each subject.

Until now a subject that had shown a FID led to the FID's person for good, and everything was in one pot. Each gets a
person of its own here, and every link ends; the next identity token makes it again. What was made stays with whom it
was made by: with the subject where it has come alone, else with the FID, since nothing tells the two apart.
"""

from datetime import timedelta

from django.db import migrations, models

# A subject's person was made in the same call as its identity.
_ONE_CALL = timedelta(seconds=1)


def give_subjects_persons(apps, schema_editor):
    Person, Identity = apps.get_model("accounts", "Person"), apps.get_model("accounts", "Identity")
    using = schema_editor.connection.alias
    people, identities = Person.objects.using(using), Identity.objects.using(using)
    together = identities.values("person").annotate(number=models.Count("pk")).filter(number__gt=1)
    shared = set(together.values_list("person", flat=True))
    for identity in identities.filter(kind="id", person__fid__isnull=False).select_related("person").iterator():
        made = (identity.created_at - _ONE_CALL, identity.created_at + _ONE_CALL)
        own = people.filter(linked_to=identity.person, created_at__range=made, identities=None).first()
        if own is None and identity.person_id not in shared:
            people.filter(pk=identity.person_id).update(fid=None)
            continue
        identity.person = own or people.create()
        identity.save(update_fields=["person"])
    people.filter(linked_to__isnull=False).update(linked_to=None)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_scope_of_agents'),
    ]

    operations = [
        migrations.AddField('person', 'linked_until', models.DateTimeField(blank=True, null=True)),
        migrations.AddField('person', 'told_at', models.DateTimeField(blank=True, null=True)),
        # Back, links are made by the next tokens, too.
        migrations.RunPython(give_subjects_persons, migrations.RunPython.noop),
    ]
