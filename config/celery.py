"""The Celery application: tasks live in each app's `tasks.py`, settings in `config.settings` under `CELERY_`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("launchboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
