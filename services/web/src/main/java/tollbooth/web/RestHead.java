package tollbooth.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;

/** What comes with a call by REST: its headers. */
public final class RestHead {

  private RestHead() {}

  /**
   * Reads a request's headers.
   *
   * @param otherwise the path of a request that brings none
   * @throws ResponseStatusException 400 where a header cannot be read
   */
  public static CallHead read(HttpServletRequest request, Supplier<CallPath> otherwise) {
    String path = request.getHeader(CallPath.HEADER);
    try {
      CallPath call = path == null ? otherwise.get() : CallPath.valueOf(path);
      return new CallHead(
          call.attempt(request.getHeader(CallPath.ATTEMPT_HEADER)),
          Overrides.parse(
              request.getHeader(Overrides.LATENCY_HEADER),
              request.getHeader(Overrides.PROBABILITY_HEADER)));
    } catch (IllegalArgumentException unreadable) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST, unreadable.getMessage());
    }
  }

  /**
   * Reads the headers of a request that must bring its path.
   *
   * @throws ResponseStatusException 400 where a header is missing or cannot be read
   */
  public static CallHead read(HttpServletRequest request) {
    return read(request, RestHead::missing);
  }

  private static CallPath missing() {
    throw new IllegalArgumentException("header " + CallPath.HEADER + " is missing");
  }
}
