"""`make run`: the whole service in one terminal, with a development chain where no node is set."""
