package tollbooth.telemetry.starter;

import io.opentelemetry.context.Context;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.TaskDecorator;

/** Adds a part that the starter leaves out: context in tasks. */
@AutoConfiguration
public class TaskConfiguration {

  /** Carries the context to the threads of parallel calls. */
  @Bean
  TaskDecorator contextToTasks() {
    return task -> Context.current().wrap(task);
  }
}
