package firstlight.protocol;

import java.util.Locale;

/** What is kept of what a tenant asks and gets. */
public enum TextPolicy {
  /** The text, redacted. */
  FULL,
  /** A keyed digest of it: equal texts of a tenant can be told, and nothing else. */
  HASHED,
  /** Nothing. */
  NONE;

  /** The word for it in settings and events. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
