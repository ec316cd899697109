package firstlight.gpu;

import firstlight.model.TensorType;

/**
 * Runs some kernel tests in a process of their own, with kernels that have a planted fault. Ends
 * with 1 where they find it.
 */
final class KernelFaultMain {
  static final int FOUND = 1;

  private KernelFaultMain() {}

  /** A kind of kernels. */
  enum Part {
    ROWS("#include \"norm.cuh\"\n"),
    PRODUCTS(
        """
        #include "product.cuh"
        KERNEL multiply8_q4_0(Product p) { multiply_narrow<Q4_0, 1>(p); }
        KERNEL multiply32_q4_0(Product p) { multiply_narrow<Q4_0, 4>(p); }
        KERNEL multiply64_q4_0(Product p) { multiply_wide<Q4_0>(p); }
        """),
    ATTENTION(
        """
        #include "attention.cuh"
        KERNEL attend_64(Attend a) { attend<2, false>(a); }
        KERNEL attend_split_64(Attend a) { attend<2, true>(a); }
        KERNEL fold_splits_64(Attend a) { fold_splits<2>(a); }
        """),
    SAMPLE("#include \"sample.cuh\"\n");

    /** The program: as few kernels as the tests need, since each costs time to compile. */
    final String source;

    Part(String source) {
      this.source = source;
    }
  }

  public static void main(String[] arguments) {
    try {
      run(Part.valueOf(arguments[0]));
    } catch (AssertionError | RuntimeException e) {
      System.out.println(e.getMessage());
      System.exit(FOUND);
    }
    System.exit(0);
  }

  private static void run(Part part) {
    switch (part) {
      case ROWS -> {
        RowKernelTest.open();
        new RowKernelTest().a_row_is_added_to_and_normalised(true, true);
      }
      case PRODUCTS -> {
        ProductKernelTest.open();
        ProductKernelTest tests = new ProductKernelTest();
        tests.products_are_those_of_plain_arithmetic_and_the_same_bits_from_every_kernel(
            TensorType.Q4_0);
        tests.the_order_of_threads_changes_no_bit(TensorType.Q4_0);
      }
      case ATTENTION -> {
        AttentionKernelTest.open();
        AttentionKernelTest tests = new AttentionKernelTest();
        tests.windows_and_softcaps_are_kept_to(5, 300);
        tests.the_order_of_threads_changes_no_bit();
      }
      case SAMPLE -> {
        SampleKernelTest.open();
        SampleKernelTest tests = new SampleKernelTest();
        tests.the_cpu_devices_choice_is_made_whatever_the_options();
        tests.the_order_of_threads_changes_nothing();
      }
    }
  }
}
