"""Modules of slow tests, which need the packages that only `make test-slow` installs."""

from importlib.util import find_spec

MODULES = ["test_chart.py", "test_compose_proxy.py", "test_image.py", "test_proxy_answers.py"]

collect_ignore = [] if find_spec("helm_python") else MODULES
