package firstlight.protocol;

/**
 * What is known of a feedback's id.
 *
 * @param digest of what the first one with that id says
 * @param durable whether that one can not be lost any more
 */
public record FeedbackNoted(String digest, boolean durable) implements FromSession {}
