"""What the code at f411f24 planned, deployed, judged and computed, and what the code does now.

- `f411f24/` holds the records, and the recorder. It never changes.
- `adapter` is the only module that imports the lab.
- `allowed` lists what may differ, each with a reason.
- `records` reads the golden files, and computes the same values with the current code.
- `alternate` compares two checkouts on real containers.

`tests/unit/test_golden.py` compares.
"""
