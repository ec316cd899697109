package firstlight.protocol;

/**
 * Notes a feedback's id for all edges of the region; answered with {@link FeedbackNoted}.
 *
 * @param feedback its id
 * @param digest of what it says
 * @param durable whether it can not be lost any more
 */
public record NoteFeedback(TenantId tenant, String feedback, String digest, boolean durable)
    implements ToSession {}
