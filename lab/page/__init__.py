"""The page of the running system: what it looks like now, what can be switched, and what earlier runs found."""
