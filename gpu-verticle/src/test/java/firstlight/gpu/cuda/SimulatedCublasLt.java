package firstlight.gpu.cuda;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;

/**
 * What tests ask of the simulated cuBLASLt, which is loaded with the {@link SimulatedDriver}: see
 * {@code src/test/cuda/simulated_cublaslt.cpp}.
 */
@SuppressWarnings("restricted")
public final class SimulatedCublasLt {
  /** Functions that can fail. The order is that of the simulation's. */
  public enum Function {
    NONE,
    CREATE,
    CHOOSE,
    MULTIPLY
  }

  private SimulatedCublasLt() {}

  /** Lets the next call of a function fail with a cublasStatus_t. */
  public static void fail(Function function, int status) {
    call(
        "sim_fail_cublaslt",
        FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
        function.ordinal(),
        status);
  }

  /** Products that have been computed since the last time that somebody asked. */
  public static long products() {
    return (long) call("sim_cublaslt_products", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
  }

  /** Handles that have not been given back. */
  public static long handles() {
    return (long) call("sim_cublaslt_handles", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
  }

  private static Object call(String name, FunctionDescriptor type, Object... arguments) {
    SimulatedDriver.load();
    try {
      return Linker.nativeLinker()
          .downcallHandle(SymbolLookup.loaderLookup().findOrThrow(name), type)
          .invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new IllegalStateException(name, e);
    }
  }
}
