package tollbooth.telemetry.streaming;

/**
 * An instrumentation scope.
 *
 * @param name never null
 * @param version null if not known
 * @param schemaUrl null if not known
 */
record Scope(String name, String version, String schemaUrl) {}
