"""Writes whole results folders whose truth is known: what the analysis and the report are tested on.

Everything in a folder follows from the numbers in `Level` and `Trial`: a trial's CPU counters grow by exactly
`cpu_ms` per request that ended (times the trial's noise), its interfaces by `app_bytes`, and so on.
"""

from tests.synthetic.files import write_json, write_results, write_trial
from tests.synthetic.truth import QUICK, SERVICES, Level, Trial

__all__ = ["QUICK", "SERVICES", "Level", "Trial", "write_json", "write_results", "write_trial"]
