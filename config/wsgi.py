"""WSGI application of the web server."""

import gc
import os
import sys

from django.core.wsgi import get_wsgi_application

from config.edge.cache import cache_public_responses
from config.edge.chunked_bodies import add_content_length

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Outside of `add_content_length`: a cacheable request has no body.
application = cache_public_responses(add_content_length(get_wsgi_application()))

# A thread that returns from the database waits for the interpreter lock until the running thread releases it: by
# default 5 ms, which is longer than most requests take.
sys.setswitchinterval(0.0005)
# Loaded objects stay for good, and a request leaves no reference cycles: the garbage collector need not scan either
# repeatedly.
gc.freeze()
gc.set_threshold(20_000, 20, 20)
