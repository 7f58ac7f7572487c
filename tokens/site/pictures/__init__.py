"""Token pictures: fetched once from their hosts, decoded and encoded anew, stored on disk, with placeholders."""
