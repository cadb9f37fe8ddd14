package tollbooth.workload;

import java.util.List;

/** The kinds of node that a topology may name. */
public final class Kinds {

  /** The kind that takes requests from outside; a topology's entry is of this kind. */
  public static final String GATEWAY = "gateway";

  /** Every kind, each a module of this reactor. */
  public static final List<String> ALL = List.of(GATEWAY, "svc-a");

  private Kinds() {}
}
