package firstlight.protocol;

import java.util.Locale;

/** The part of the system in which something failed. */
public enum FailureDomain {
  EDGE,
  SESSION,
  BATCHER,
  GPU,
  FEEDBACK;

  /** The word for it in metrics and events. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
