"""The service for language models: tools over the Model Context Protocol, and the API as Markdown."""
