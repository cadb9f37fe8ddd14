package tollbooth.svca;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import tollbooth.workload.CallPath;

/** The HTTP side of a service. */
@RestController
class OperationController {

  private final Performer performer;

  OperationController(Performer performer) {
    this.performer = performer;
  }

  @GetMapping("/op/{operation}")
  Answer perform(@PathVariable String operation, @RequestHeader(CallPath.HEADER) CallPath path)
      throws InterruptedException {
    return performer.perform(operation, path);
  }
}
