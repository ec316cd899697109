package firstlight.gpu;

/** How a matrix product is cut so that what is used again stays near the core. */
final class Tiles {
  /** Groups of rows that stay in the nearest caches while all tokens pass by. */
  static final int GROUPS = 8;

  /** From so many tokens on it pays to unpack weights to floats first. */
  static final int MANY_TOKENS = 8;

  private Tiles() {}
}
