"""Whether a student's run agrees with itself and with its exercise, and whether its answers are right. Pure."""
