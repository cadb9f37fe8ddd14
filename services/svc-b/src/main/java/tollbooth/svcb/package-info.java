/** A service that is asked by gRPC, and handles what it is asked without holding a thread. */
package tollbooth.svcb;
