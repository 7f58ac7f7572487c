from django.db import migrations

from pretokens.body import normalize_keyword

_BATCH = 500


def normalize_again(apps, schema_editor):
    """Store the keys by which keywords are compared now.

    Of pending pretokens of one owner whose keywords look alike now, the oldest gets the key. The others keep their
    former ones, each unique among that owner's, until they are launched, deleted or expired: a new key never equals
    a former one, since normalization changes that. Rows that have their key already are not written.
    """
    model = apps.get_model("pretokens", "Pretoken")
    rows = model.objects.order_by("created_at", "pk").only("pk", "owner_id", "keyword", "keyword_key", "state")
    pending = rows.filter(state="pending")
    taken = set(pending.values_list("owner_id", "keyword_key"))
    changed = []
    for row in rows.iterator(chunk_size=_BATCH):
        key = normalize_keyword(row.keyword)
        if key == row.keyword_key or not key:
            continue
        if row.state == "pending":
            if (row.owner_id, key) in taken:
                continue
            taken.add((row.owner_id, key))
        row.keyword_key = key
        changed.append(row)
    model.objects.bulk_update(changed, ["keyword_key"], batch_size=_BATCH)


class Migration(migrations.Migration):

    dependencies = [("pretokens", "0003_room")]

    operations = [migrations.RunPython(normalize_again, migrations.RunPython.noop, elidable=True)]
