package firstlight.edge;

import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.TenantId;
import java.util.List;
import java.util.OptionalInt;

/**
 * One request of a client in the words of no dialect: what {@link Turns} needs to run it.
 *
 * @param response the id its answer has
 * @param origin where it comes from: for events and metrics
 * @param model the name the client gave
 * @param prompts at least one; each gets {@code choices} answers
 * @param choices answers a prompt, at least 1. Answer {@code c} of prompt {@code p} has the index
 *     {@code p * choices + c} in events
 * @param sampling of the first choice; the seeds of the others are derived from its seed and their
 *     index
 * @param outputMax most tokens an answer may have; empty: up to the end of the context. A larger
 *     value than the context has room for is lowered to that room
 * @param stop stop strings, none empty
 * @param form what form the answers are to have
 * @param ignoreEnd whether the model's end tokens do not end the answer
 * @param urgency how soon the first token is wanted
 */
record TurnRequest(
    ResponseId response,
    TenantId tenant,
    TurnOrigin origin,
    String model,
    List<TurnPrompt> prompts,
    int choices,
    Sampling sampling,
    OptionalInt outputMax,
    List<String> stop,
    AnswerForm form,
    boolean ignoreEnd,
    Urgency urgency) {
  TurnRequest {
    prompts = List.copyOf(prompts);
    stop = List.copyOf(stop);
    if (prompts.isEmpty() || choices < 1) {
      throw new IllegalArgumentException("a request has at least one prompt and one choice");
    }
    if (stop.contains("")) {
      throw new IllegalArgumentException("a stop string is not empty");
    }
    if (outputMax.isPresent() && outputMax.getAsInt() < 1) {
      throw new IllegalArgumentException("an answer has room for at least one token");
    }
  }

  /** The same request for another prompt. */
  TurnRequest withPrompt(TurnPrompt prompt) {
    return new TurnRequest(
        response,
        tenant,
        origin,
        model,
        List.of(prompt),
        choices,
        sampling,
        outputMax,
        stop,
        form,
        ignoreEnd,
        urgency);
  }

  /** Number of answers over all prompts. */
  int answers() {
    return prompts.size() * choices;
  }
}
