"""What operators watch: probes, metrics, log lines, error reports and traces; a setting turns on each export."""
