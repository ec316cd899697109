package firstlight.edge;

import firstlight.protocol.ResponseId;
import firstlight.protocol.TextPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a turn comes from: what metrics and Events say of it beyond what it takes to run it.
 *
 * @param request id of the Request, as its client was told
 * @param dialect responses, chat.completions, completions or messages
 * @param previous the Response it builds on; its history is already in the prompts
 * @param conversation that it belongs to; empty for none
 * @param session as in {@link firstlight.protocol.Event#session}; empty: the Response's own id
 * @param streamed whether the client gets the answer in pieces
 * @param stored whether the session verticle keeps the turn
 * @param text what of its text may be kept in Events
 * @param input what is new in its prompts; empty: all of them
 */
record TurnOrigin(
    String request,
    String dialect,
    @Nullable ResponseId previous,
    String conversation,
    String session,
    boolean streamed,
    boolean stored,
    TextPolicy text,
    List<TurnPrompt> input) {
  TurnOrigin {
    input = List.copyOf(input);
  }

  /** A turn that stands alone, and is not stored. */
  static TurnOrigin alone(Caller caller, String dialect, boolean streamed, TextPolicy text) {
    return new TurnOrigin(
        caller.requestId(), dialect, null, "", "", streamed, false, text, List.of());
  }
}
