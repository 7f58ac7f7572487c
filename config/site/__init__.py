"""Public site: the installation's own name, logos, colors and languages, its assets, and its template filters."""
