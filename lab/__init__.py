"""Tollbooth's judge: plans experiments, runs their trials, analyses records and reports."""
