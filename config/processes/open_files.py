"""Open file limit, which is commonly 1,024: too low for a server with thousands of connections."""

import resource


def raise_open_files(wanted: int) -> None:
    """Raise this process's open file limit to `wanted`, or as far as it may."""
    current, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    reachable = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
    if current != resource.RLIM_INFINITY and current < reachable:
        resource.setrlimit(resource.RLIMIT_NOFILE, (reachable, highest))
