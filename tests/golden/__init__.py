"""What the code at f411f24 planned, deployed, judged and computed: recorded once, compared with what the code does now.

`f411f24/` holds the records and never changes; `adapter` is all that knows the lab's own modules; `allowed` lists what
may differ; `record` is how the records were made; `test_golden.py` in `tests/unit/` compares.
"""
