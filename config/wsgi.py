"""The WSGI application that the web server runs."""

import os

from django.core.wsgi import get_wsgi_application

from config.api.bodies import measure_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = measure_bodies(get_wsgi_application())
