package firstlight.model;

/** The value of a name that has none: prints as nothing, is false, and has no parts. */
record JinjaUndefined(String name) {}
