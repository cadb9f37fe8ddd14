package tollbooth.web.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import tollbooth.web.NodeApplication;
import tollbooth.web.NodeSettings;
import tollbooth.web.PeerAddresses;
import tollbooth.workload.CallPath;
import tollbooth.workload.Topology;

/** A service that really runs, on a port that was free. */
public final class RunningNode implements AutoCloseable {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final ConfigurableApplicationContext context;

  private RunningNode(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /** Settings of a node as tests need them: seed 1, no ready file. */
  public static NodeSettings settings(String node, String topology, PeerAddresses addresses) {
    return new NodeSettings(
        node,
        Topology.parse(topology),
        1,
        "baseline",
        Optional.empty(),
        addresses,
        Optional.empty());
  }

  /**
   * Starts a node.
   *
   * @param application the service's program
   * @param beans further singletons, by name, which stand in for those of the application
   */
  public static RunningNode start(
      Class<?> application, NodeSettings settings, Map<String, Object> beans) {
    SpringApplication spring = NodeApplication.of(application, settings);
    spring.addInitializers(context -> beans.forEach(context.getBeanFactory()::registerSingleton));
    return new RunningNode(spring.run("--server.port=0", "--spring.grpc.server.port=0"));
  }

  /** Starts a node with its own beans only. */
  public static RunningNode start(Class<?> application, NodeSettings settings) {
    return start(application, settings, Map.of());
  }

  /** One of the node's own objects. */
  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** Where the node listens for HTTP. */
  public URI address() {
    return URI.create(
        "http://localhost:" + context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  /** Gets a path, without a call path. */
  public HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(address().resolve(path)));
  }

  /** Gets a path, with this call path. */
  public HttpResponse<String> get(String path, String callPath)
      throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(address().resolve(path)).header(CallPath.HEADER, callPath));
  }

  /** Gets a path with these headers: name, value, name, value. */
  public HttpResponse<String> getWithHeaders(String path, String... headers)
      throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(address().resolve(path)).headers(headers));
  }

  @Override
  public void close() {
    context.close();
  }

  private static HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
