package tollbooth.web;

import java.net.URI;

/** Where the nodes of a topology listen. */
@FunctionalInterface
public interface PeerAddresses {

  /** In the lab a node's name is its host name, and all listen on one port. */
  PeerAddresses BY_CONTAINER_NAME = node -> URI.create("http://" + node + ":8080");

  /** The address of a node, without a path. */
  URI of(String node);
}
