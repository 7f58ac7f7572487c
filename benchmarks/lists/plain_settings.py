"""The service's settings with one view instead of all others, written as the frameworks' tutorials do it.

Its requests pass the same middleware under the same server; Django REST framework has its own defaults.
"""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.lists.plain_view"
REST_FRAMEWORK = {}
