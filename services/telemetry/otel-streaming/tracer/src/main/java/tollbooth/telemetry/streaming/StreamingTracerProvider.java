package tollbooth.telemetry.streaming;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Makes one tracer for each scope. */
final class StreamingTracerProvider implements TracerProvider {

  private final Map<Scope, StreamingTracer> tracers = new ConcurrentHashMap<>();
  private final Pipeline pipeline;

  StreamingTracerProvider(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  @Override
  public Tracer get(String name) {
    return tracerBuilder(name).build();
  }

  @Override
  public Tracer get(String name, String version) {
    return tracerBuilder(name).setInstrumentationVersion(version).build();
  }

  @Override
  public TracerBuilder tracerBuilder(String name) {
    return new Builder(name == null ? "" : name);
  }

  private final class Builder implements TracerBuilder {

    private final String name;
    private String version;
    private String schemaUrl;

    Builder(String name) {
      this.name = name;
    }

    @Override
    public TracerBuilder setSchemaUrl(String url) {
      schemaUrl = url;
      return this;
    }

    @Override
    public TracerBuilder setInstrumentationVersion(String newVersion) {
      version = newVersion;
      return this;
    }

    @Override
    public Tracer build() {
      return tracers.computeIfAbsent(
          new Scope(name, version, schemaUrl), scope -> new StreamingTracer(pipeline, scope));
    }
  }
}
