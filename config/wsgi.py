"""The web server's applications: `server` by RSGI, around `application` by WSGI."""

import gc
import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import is_valid_path

from config.edge.cache import cache_public_responses
from config.edge.fair_threads import FairThreads
from config.edge.wsgi_bridge import WSGIBridge
from config.processes.concurrency_limits import REQUESTS_PER_ADDRESS, THREADS, THREADS_PER_ADDRESS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = cache_public_responses(get_wsgi_application())
server = WSGIBridge(
    application,
    threads=FairThreads(THREADS, threads_per_address=THREADS_PER_ADDRESS, requests_per_address=REQUESTS_PER_ADDRESS),
    body_timeout=settings.WEB_BODY_TIMEOUT_SECONDS,
    response_timeout=settings.WEB_RESPONSE_TIMEOUT_SECONDS,
    body_memory=settings.WEB_BODY_MEMORY_MB * 1024 * 1024,
)

# A thread that returns from the database waits for the interpreter lock until the running thread releases it: by
# default 5 ms, which is longer than most requests take.
sys.setswitchinterval(0.0005)
# Loaded objects stay for good, and a request leaves no reference cycles: the garbage collector need not scan either
# repeatedly. Most are views and admin pages; otherwise the first request would load them.
is_valid_path("/")
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)
