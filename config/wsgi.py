"""The WSGI application that the web server runs."""

import os

from django.core.wsgi import get_wsgi_application

from config.api.bodies import measure_bodies
from config.edge.cache import keep_public_answers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# What is served from the cache has no body to be measured.
application = keep_public_answers(measure_bodies(get_wsgi_application()))
