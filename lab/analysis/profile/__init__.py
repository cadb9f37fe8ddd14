"""Where the CPU goes: a profiled trial per level, apart from the measured ones, and what it adds to the baseline."""
