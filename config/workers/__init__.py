"""Workers and beat: messages in the broker, consumption, and runs of periodic tasks."""
