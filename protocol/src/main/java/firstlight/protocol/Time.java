package firstlight.protocol;

/** The only source of time, so that a simulator can own it. */
public interface Time {
  /** Unix time, ms. */
  long epochMillis();

  /** For measuring spans; only differences mean something. */
  long nanos();

  /** The machine's clocks. */
  static Time system() {
    return new Time() {
      @Override
      public long epochMillis() {
        return System.currentTimeMillis();
      }

      @Override
      public long nanos() {
        return System.nanoTime();
      }
    };
  }
}
