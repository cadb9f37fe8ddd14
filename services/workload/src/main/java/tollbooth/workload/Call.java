package tollbooth.workload;

/**
 * One call that an operation makes.
 *
 * @param index its position among all calls of the operation, from 0; part of the call path
 * @param target the operation that is called
 */
public record Call(int index, Target target) {}
