"""What operators watch: probes, metrics, log lines, and reports of errors and traces, each sent by its setting."""
