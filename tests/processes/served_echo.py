"""The addresses of test_api_parsing behind a real server."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.edge.chunked_bodies import measure_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

settings.ROOT_URLCONF = "tests.config.api.test_api_parsing"

application = measure_bodies(get_wsgi_application())
