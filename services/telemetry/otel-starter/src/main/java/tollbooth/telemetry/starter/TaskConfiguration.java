package tollbooth.telemetry.starter;

import io.opentelemetry.context.Context;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.TaskDecorator;

/** The one thing that the starter does not do by itself. */
@AutoConfiguration
public class TaskConfiguration {

  /** Parallel calls are made by other threads than the request's: the context goes with them. */
  @Bean
  TaskDecorator contextToTasks() {
    return task -> Context.current().wrap(task);
  }
}
