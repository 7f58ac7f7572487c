"""Real HTTP servers in the place of outside services: sample data in documented shapes, and faults on demand."""
