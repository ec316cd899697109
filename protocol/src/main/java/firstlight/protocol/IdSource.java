package firstlight.protocol;

import java.util.random.RandomGenerator;

/** Makes ids that nobody can guess and that do not repeat: a prefix and 128 random bits. */
public final class IdSource {
  private static final char[] DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz".toCharArray();
  private static final int LENGTH = 25;

  private final RandomGenerator random;

  /**
   * @param random for production a {@link java.security.SecureRandom}; it is used by one thread at
   *     a time unless it allows more itself
   */
  public IdSource(RandomGenerator random) {
    this.random = random;
  }

  /** E.g. {@code resp_3k1…}. */
  public String next(String prefix) {
    StringBuilder id = new StringBuilder(prefix);
    for (int i = 0; i < LENGTH; i++) {
      id.append(DIGITS[random.nextInt(DIGITS.length)]);
    }
    return id.toString();
  }

  /** For a request that brings no seed. */
  public long seed() {
    return random.nextLong();
  }
}
