package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ConversationId;
import firstlight.protocol.Priority;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a client asked for in the dialect of Open Responses, checked as far as it can be without the
 * Responses it builds on.
 *
 * @param id of the Response that answers it
 * @param input new Items in the specification's output shape (ItemField), each with its id
 * @param instructions hold for this Response only
 * @param previous the Response it builds on
 * @param conversation the one it builds on and adds to; then there is no previous Response
 * @param generate false: the Response only prepares the next one, and ends without an Item
 * @param background it does not end with its client
 * @param logprobs whether the answer shows log-probabilities
 * @param outputMax most tokens of the answer; empty: up to the end of the context
 * @param form what the answer is to be
 * @param echo the keys of a Response that repeat what was asked, defaults filled in
 * @param ignored names of the fields that had no effect
 */
record ResponseRequest(
    ResponseId id,
    String model,
    ArrayNode input,
    @Nullable String instructions,
    @Nullable ResponseId previous,
    @Nullable ConversationId conversation,
    boolean store,
    boolean stream,
    boolean generate,
    boolean background,
    boolean logprobs,
    Sampling sampling,
    OptionalInt outputMax,
    Priority priority,
    AnswerForm form,
    ObjectNode echo,
    List<String> ignored) {
  ResponseRequest {
    ignored = List.copyOf(ignored);
  }
}
