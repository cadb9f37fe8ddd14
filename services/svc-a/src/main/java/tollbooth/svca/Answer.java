package tollbooth.svca;

/**
 * The answer of a service.
 *
 * @param node the node
 * @param operation its operation
 * @param calls number of calls that the node itself made
 */
record Answer(String node, String operation, int calls) {}
