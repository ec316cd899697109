package firstlight.edge;

import org.jspecify.annotations.Nullable;

/**
 * What one connection remembers: the most recent Response, if it is nowhere else. That makes going
 * on from a Response possible that is not stored.
 */
final class WebSocketMemory {
  private final int charactersMax;
  private @Nullable ResponseHistory latest;

  /**
   * @param charactersMax a longer history is not remembered: no prompt could be made of it either
   */
  WebSocketMemory(int charactersMax) {
    this.charactersMax = charactersMax;
  }

  /** A Response has ended: the one before is forgotten. */
  void keep(ResponseHistory history) {
    boolean held = !history.kept().isEmpty() && history.keptCharacters() <= charactersMax;
    latest = held ? history : null;
  }

  /** The history of whoever builds on that Response; null when it is not remembered. */
  @Nullable ResponseHistory of(@Nullable String response) {
    return latest != null && latest.kept().getLast().response().value().equals(response)
        ? latest
        : null;
  }

  /** A turn that builds on that Response failed. Nobody is to go on from there unknowingly. */
  void evict(@Nullable String response) {
    if (of(response) != null) {
      latest = null;
    }
  }
}
