package firstlight.gpu;

/** One thread's part of equal work: units are dealt out in runs, as evenly as whole units allow. */
record Share(int part, int parts) {
  int from(int units) {
    return (int) ((long) units * part / parts);
  }

  int to(int units) {
    return (int) ((long) units * (part + 1) / parts);
  }

  Range range(int units) {
    return new Range(from(units), to(units));
  }

  /** A run of units: from the first to the one after the last. */
  record Range(int from, int to) {}
}
