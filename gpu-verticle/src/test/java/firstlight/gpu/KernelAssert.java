package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

/** What tests say of how far a kernel's numbers are away. */
final class KernelAssert {
  private KernelAssert() {}

  static void within(double tolerance, double[] actual, double[] expected, String what) {
    double distance = KernelDistance.of(actual, expected);
    assertThat(distance <= tolerance)
        .as("%s: distance %.2e, tolerance %.2e", what, distance, tolerance)
        .isTrue();
  }
}
