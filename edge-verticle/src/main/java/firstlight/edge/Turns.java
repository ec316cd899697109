package firstlight.edge;

import io.vertx.core.Future;

/** Runs turns: the one pipeline under all dialects. */
interface Turns {
  /**
   * Starts a turn and returns at once. Everything that goes wrong, invalid requests included (an
   * unknown model, a template that refuses, a prompt too long, a token id outside the vocabulary),
   * is reported as {@link TurnEvent.Failed}.
   *
   * @param listener hears of it, later, on the verticle's event loop
   */
  TurnHandle start(TurnRequest request, TurnListener listener);

  /**
   * How many tokens the prompts of a request have together, whether or not there is room for them.
   * Fails as {@link #start} does where they cannot be made.
   */
  Future<Integer> promptTokens(TurnRequest request);
}
