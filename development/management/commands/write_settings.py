"""`manage.py write_settings`: `.env.example` and the tables of docs/configuration.md, from the model of settings."""

from typing import Any

from django.core.management.base import BaseCommand

from development import setting_documents


class Command(BaseCommand):
    help = "Writes .env.example and the tables of docs/configuration.md from the docstrings of the settings' model."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        setting_documents.write_documents()
