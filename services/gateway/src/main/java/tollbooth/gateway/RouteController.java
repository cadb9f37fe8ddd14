package tollbooth.gateway;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.web.NodeSettings;
import tollbooth.web.Peers;
import tollbooth.web.RestHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Target;

/** Passes a request to the service behind its route, and returns the answer. */
@RestController
class RouteController {

  private final Map<String, Target> routes;
  private final Peers peers;
  private final AtomicLong requests = new AtomicLong();

  RouteController(NodeSettings settings, Peers peers) {
    this.routes = settings.node().routes();
    this.peers = peers;
  }

  /** A request keeps its number; a request without one gets the next. */
  @GetMapping(path = "/{route}", produces = MediaType.APPLICATION_JSON_VALUE)
  byte[] pass(@PathVariable String route, HttpServletRequest request) {
    Target target = routes.get(route);
    if (target == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND, "no route '" + route + "'; available: " + routes.keySet());
    }
    return peers.call(target, RestHead.read(request, this::next));
  }

  private CallPath next() {
    return CallPath.ofRequest(requests.getAndIncrement());
  }
}
