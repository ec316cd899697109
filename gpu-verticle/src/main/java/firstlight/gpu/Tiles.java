package firstlight.gpu;

/** How a matrix product is cut so that what is used again stays near the core. */
final class Tiles {
  /** Groups of rows that stay in the nearest caches while all tokens pass by. */
  static final int GROUPS = 8;

  /** Tokens whose sums a kernel holds in registers at once. */
  static final int TOKENS = 4;

  private Tiles() {}
}
