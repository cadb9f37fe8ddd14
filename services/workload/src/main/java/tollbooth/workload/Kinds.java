package tollbooth.workload;

import java.util.List;

/** The kinds of node that a topology may name. */
public final class Kinds {

  /** Takes requests from outside by REST, and passes them on to services. */
  public static final String GATEWAY = "gateway";

  /** A service that is asked by REST. */
  public static final String SVC_A = "svc-a";

  /** A service that is asked by gRPC, also from outside. */
  public static final String SVC_B = "svc-b";

  /** Every kind, each a module of this reactor. */
  public static final List<String> ALL = List.of(GATEWAY, SVC_A, SVC_B);

  /** The kinds that a topology's entry may be of. */
  public static final List<String> ENTRIES = List.of(GATEWAY, SVC_B);

  private Kinds() {}
}
