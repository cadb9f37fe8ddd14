package tollbooth.workload;

/** The kinds of node that the code treats differently. The lab checks that a node's kind exists. */
public final class Kinds {

  /** Receives requests from clients by REST and passes them on to services. */
  public static final String GATEWAY = "gateway";

  /** A service that is called by REST. */
  public static final String SVC_A = "svc-a";

  /** A service that is called by gRPC, also by clients. */
  public static final String SVC_B = "svc-b";

  private Kinds() {}
}
