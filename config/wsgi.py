"""The WSGI application that the web server runs."""

import gc
import os
import sys

from django.core.wsgi import get_wsgi_application

from config.edge.cache import keep_public_answers
from config.edge.chunked_bodies import measure_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Outside of what measures bodies: a request whose answer is kept has none.
application = keep_public_answers(measure_bodies(get_wsgi_application()))

# A thread that comes back from the database waits for the interpreter until the running one gives it up: by default
# 5 ms, which is longer than most requests take.
sys.setswitchinterval(0.0005)
# What is loaded by now stays for good, and a request leaves no circles behind: neither is worth being looked through
# again and again.
gc.freeze()
gc.set_threshold(20_000, 20, 20)
