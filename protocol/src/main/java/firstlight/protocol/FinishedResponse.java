package firstlight.protocol;

import java.util.List;

/**
 * A Response has ended, in whatever way. Texts that say nothing are empty.
 *
 * @param previous the Response that it goes on from
 * @param dialect responses, chat.completions, completions or messages
 * @param status completed, incomplete, failed or cancelled
 * @param errorCode when the status is failed
 * @param usage of the whole Response: each prompt counted once
 * @param streamed whether the client got it in pieces
 * @param stored whether it can be gone on from
 * @param route how its model was chosen
 * @param routeReason why
 */
public record FinishedResponse(
    String response,
    String previous,
    String conversation,
    String dialect,
    Model model,
    String status,
    String errorCode,
    KeptText text,
    Usage usage,
    int reasoningTokens,
    Timing timing,
    boolean streamed,
    boolean stored,
    String route,
    String routeReason,
    List<TracedGeneration> generations)
    implements EventBody {
  public FinishedResponse {
    generations = List.copyOf(generations);
  }

  /**
   * @param name as clients say it
   * @param digest SHA-256 of the model file, hexadecimal
   * @param templateDigest SHA-256 of the chat template, hexadecimal
   */
  public record Model(String name, String digest, String templateDigest) {}

  /**
   * In milliseconds.
   *
   * @param queued longest time one of its generations waited at its replica
   * @param firstToken from the request's arrival; 0: there was no token
   * @param total from the request's arrival to its end
   */
  public record Timing(long queued, long firstToken, long total) {}
}
