"""WSGI application with the addresses of tests/config/api/test_api_parsing.py, for a real server."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.edge.chunked_bodies import add_content_length

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

settings.ROOT_URLCONF = "tests.config.api.test_api_parsing"

application = add_content_length(get_wsgi_application())
