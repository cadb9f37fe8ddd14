package tollbooth.telemetry.recorder;

import java.net.URI;

/**
 * Where export requests are posted.
 *
 * @param host a name, resolved again for each connection, or an address
 * @param path of the request, with its query
 */
public record Endpoint(String host, int port, String path) {

  private static final int HTTP_PORT = 80;
  private static final int MOST_PORT = 65_535;

  /**
   * Reads a URL.
   *
   * @throws IllegalArgumentException in one line, if it is not a plain {@code http} URL
   */
  public static Endpoint parse(String url) {
    URI uri;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException malformed) {
      throw new IllegalArgumentException("not a URL: '" + url + "'", malformed);
    }
    if (!"http".equals(uri.getScheme())
        || uri.getHost() == null
        || uri.getUserInfo() != null
        || uri.getFragment() != null) {
      throw new IllegalArgumentException(
          "must be http://<host>[:<port>][/<path>], not '" + url + "'");
    }
    int port = uri.getPort() == -1 ? HTTP_PORT : uri.getPort();
    if (port < 1 || port > MOST_PORT) {
      throw new IllegalArgumentException("no such port: '" + url + "'");
    }
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    return new Endpoint(uri.getHost(), port, path + query);
  }

  /** The value of the header {@code Host}. */
  String authority() {
    return host + ":" + port;
  }

  /** The host as a resolver wants it: an IPv6 address without its brackets. */
  String resolvable() {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }
}
