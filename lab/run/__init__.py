"""Blocks, starts and trials: planning, measuring, calibration, stopping, resumption."""
