package firstlight.batcher;

import java.time.Duration;

/**
 * How Sequences share a replica; each is a setting of the same name.
 *
 * @param interTokenTarget how long a Step with decoding Sequences should take at most
 * @param longPromptTokens a prompt with more tokens still to compute is a long one
 * @param longShare share of the KV memory, and of each Step's prompt tokens, for long ones while
 *     others want some
 * @param tenantWaitingShare share of the waiting queue that one tenant can fill
 * @param reservedOutput share of the expected output for which there must be room before a Sequence
 *     runs
 * @param tenantsRemembered tenants of which figures are kept while they are away
 */
record SharePolicy(
    Duration interTokenTarget,
    int longPromptTokens,
    double longShare,
    double tenantWaitingShare,
    double reservedOutput,
    int tenantsRemembered) {}
