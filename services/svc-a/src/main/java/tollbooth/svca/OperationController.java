package tollbooth.svca;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import tollbooth.web.RestHead;

/** The HTTP side of a service. */
@RestController
class OperationController {

  private final Performer performer;

  OperationController(Performer performer) {
    this.performer = performer;
  }

  @GetMapping("/op/{operation}")
  Answer perform(@PathVariable String operation, HttpServletRequest request)
      throws InterruptedException {
    return performer.perform(operation, RestHead.read(request));
  }
}
