"""What Zipkin says, in the lab's own words."""

from lab.backend.zipkin import collector_counters, trace_record


def test_a_span_that_was_cut_short_is_still_one() -> None:
    assert trace_record([{"traceId": "t", "id": "1", "parentId": "0"}])["spans"] == [
        {"id": "1", "parent": "0", "service": "", "name": "", "kind": "internal", "start_ns": 0, "duration_ns": 0,
         "tags": 0, "error": False},
    ]  # fmt: skip


def test_before_the_first_request_every_counter_is_0() -> None:
    assert set(collector_counters({}).values()) == {0}
