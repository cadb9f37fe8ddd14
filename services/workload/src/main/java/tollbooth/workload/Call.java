package tollbooth.workload;

/**
 * One call of an operation's plan.
 *
 * @param index its place among all calls of the operation, from 0: what the call path gets
 * @param target what is asked
 */
public record Call(int index, Target target) {}
