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

/** Passes a request on to the service that the client names, and the answer back. */
@RestController
class RouteController {

  private final Map<String, Target> routes;
  private final Peers peers;
  private final AtomicLong requests = new AtomicLong();

  RouteController(NodeSettings settings, Peers peers) {
    this.routes = settings.node().routes();
    this.peers = peers;
  }

  /** A request keeps the number that it brings; one without gets the next. */
  @GetMapping(path = "/{route}", produces = MediaType.APPLICATION_JSON_VALUE)
  byte[] pass(@PathVariable String route, HttpServletRequest request) {
    Target target = routes.get(route);
    if (target == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND, "no route '" + route + "'; there is: " + routes.keySet());
    }
    return peers.ask(target, RestHead.read(request, this::next));
  }

  private CallPath next() {
    return CallPath.ofRequest(requests.getAndIncrement());
  }
}
