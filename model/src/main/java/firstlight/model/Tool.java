package firstlight.model;

import java.util.Map;

/**
 * A function that the model may call.
 *
 * @param definition in the shape of chat completions, as templates show it: {@code {type:
 *     "function", function: {name, description, parameters}}}
 * @param parameters a JSON Schema of its arguments, of maps, lists, strings, numbers and booleans
 * @param strict whether the arguments must keep to the schema even where the model is free to call
 */
public record Tool(
    String name, Map<String, Object> definition, Map<String, Object> parameters, boolean strict) {}
