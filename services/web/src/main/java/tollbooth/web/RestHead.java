package tollbooth.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;

/** Reads the head of a call from its HTTP headers. */
public final class RestHead {

  private RestHead() {}

  /**
   * Reads a request's headers.
   *
   * @param otherwise the path of a request without one
   * @throws ResponseStatusException 400 if a header is invalid
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
   * Reads the headers of a request that must have a path.
   *
   * @throws ResponseStatusException 400 if a header is missing or invalid
   */
  public static CallHead read(HttpServletRequest request) {
    return read(request, RestHead::missing);
  }

  private static CallPath missing() {
    throw new IllegalArgumentException("header " + CallPath.HEADER + " is missing");
  }
}
