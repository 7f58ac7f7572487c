"""`make run`: the whole service in one terminal, with bundled servers, a development chain and stand-ins."""
