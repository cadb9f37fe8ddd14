"""From records to estimates and verdicts: metrics, checks, statistics, claims. Pure."""
