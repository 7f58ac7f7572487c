"""Stand-ins for outside services, with sample data. They share nothing with the service but HTTP."""
