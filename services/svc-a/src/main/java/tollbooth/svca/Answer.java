package tollbooth.svca;

/**
 * What a service answers.
 *
 * @param node who answers
 * @param operation what was asked
 * @param calls how many calls the node itself made for it
 */
record Answer(String node, String operation, int calls) {}
