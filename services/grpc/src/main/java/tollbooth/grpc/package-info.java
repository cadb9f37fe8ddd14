/**
 * The client for nodes of kind svc-b. It is on the class path of svc-b and, in a topology with such
 * a node, of the other kinds. No telemetry.
 */
package tollbooth.grpc;
