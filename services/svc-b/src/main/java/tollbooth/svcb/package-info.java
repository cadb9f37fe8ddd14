/** A gRPC service that handles requests without holding a thread. */
package tollbooth.svcb;
