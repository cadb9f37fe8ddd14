/**
 * How nodes of kind svc-b are asked. Only who needs it has it on the class path: svc-b, and in a
 * topology with such a node the other kinds, too. No telemetry.
 */
package tollbooth.grpc;
