"""The page of a system that stands: what it looks like now, what can be switched, and what earlier runs found."""
