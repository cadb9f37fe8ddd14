package tollbooth.telemetry.contract;

import java.util.List;

/** Finished spans that a library keeps in memory. */
public interface Spans {

  /** The finished spans. */
  List<RecordedSpan> recorded();

  /** Forgets the finished spans. */
  void forget();
}
