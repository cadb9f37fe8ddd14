package tollbooth.web.testing;

/** The smallest topologies, as the lab resolves them. */
public final class Topologies {

  /** A gateway with the route {@code a1} to a REST service. */
  public static final String REST =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "gateway": {"kind": "gateway", "routes": {"a1": "a1.answer"}, "operations": {}},
          "a1": {"kind": "svc-a", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  /** One gRPC service, {@code s1}. */
  public static final String GRPC =
      """
      {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
          "s1": {"kind": "svc-b", "routes": {}, "operations": {
            "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
          }}
        }
      }
      """;

  private Topologies() {}
}
