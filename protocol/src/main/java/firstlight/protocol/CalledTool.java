package firstlight.protocol;

/**
 * A model asked for a tool.
 *
 * @param call the id that the client was told
 * @param generation which answer of the Response, from 0
 * @param index which call of that answer, from 0
 * @param arguments JSON as the model wrote it, redacted; empty unless the policy is FULL
 * @param argumentsDigest empty unless the policy is HASHED
 * @param valid whether the arguments are JSON
 */
public record CalledTool(
    String response,
    String conversation,
    String call,
    int generation,
    int index,
    String name,
    String arguments,
    String argumentsDigest,
    boolean valid,
    String model,
    TextPolicy policy)
    implements EventBody {}
