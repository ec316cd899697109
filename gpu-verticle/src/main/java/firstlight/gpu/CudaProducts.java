package firstlight.gpu;

import firstlight.gpu.cuda.CublasLt;
import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.MatrixProduct;
import firstlight.gpu.cuda.StreamWork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who multiplies: our own kernels, whose bits are the same for any number of tokens, or for many
 * tokens cuBLASLt, where the configuration says so and the weights are bf16.
 *
 * <p>Our kernels want their input in the order of lanes, cuBLASLt wants it in that of the weights.
 * So before it multiplies, the input is copied into that order, once for all products of it.
 */
final class CudaProducts {
  private static final Logger LOG = LoggerFactory.getLogger(CudaProducts.class);

  /**
   * With fewer tokens a product waits for its weights to come from memory, whoever makes it; our
   * kernels read them once for up to so many, and again for every so many more.
   */
  static final int LIBRARY_TOKENS_MIN = 64;

  private final Kernels kernels;
  private final Optional<Library> library;

  /**
   * @param ordered where inputs are in the order of elements
   */
  private record Library(CublasLt cublasLt, DeviceMemory ordered) {}

  private CudaProducts(Kernels kernels, Optional<Library> library) {
    this.kernels = kernels;
    this.library = library;
  }

  /**
   * Takes what is needed of the GPU's memory.
   *
   * @param tokensMax in a Step
   */
  static CudaProducts of(Gpu gpu, CudaConfig config, CudaWeights weights, int tokensMax) {
    Kernels kernels = new Kernels(gpu);
    if (config.products() == CudaConfig.Products.OWN) {
      return new CudaProducts(kernels, Optional.empty());
    }
    OptionalInt widest =
        weights.multiplied().stream()
            .filter(CudaProducts::isForLibrary)
            .mapToInt(CudaMatrix::columns)
            .max();
    if (widest.isEmpty()) {
      LOG.warn(
          "gpu.cuda.products is cublaslt, but no weights of the model are bf16, so our own kernels"
              + " make all products; set gpu.cuda.weights to bf16");
      return new CudaProducts(kernels, Optional.empty());
    }
    LOG.warn(
        "gpu.cuda.products is cublaslt: what a Sequence gets depends on what else is in its Steps,"
            + " and may be another thing the next time");
    long bytes = (long) tokensMax * widest.getAsInt() * Short.BYTES;
    DeviceMemory ordered = gpu.allocate(bytes, "inputs of cuBLASLt");
    return new CudaProducts(kernels, Optional.of(new Library(gpu.cublasLt(), ordered)));
  }

  private static boolean isForLibrary(CudaMatrix matrix) {
    return matrix.type() == CudaWeightType.BF16;
  }

  /** Whether all numbers are the same whatever else is in a Step. */
  boolean areOwn() {
    return library.isEmpty();
  }

  /**
   * Prepares products of one input with some matrices.
   *
   * @param tokens at most
   */
  List<StreamWork> prepare(int tokens, KernelArguments.Product... products) {
    if (library.isEmpty() || tokens < LIBRARY_TOKENS_MIN) {
      return Arrays.stream(products).map(each -> own(each, tokens)).toList();
    }
    Library with = library.get();
    List<StreamWork> work = new ArrayList<>();
    if (Arrays.stream(products).anyMatch(each -> isForLibrary(each.matrix()))) {
      KernelArguments.Product any = products[0];
      work.add(
          kernels.restore(
              new KernelArguments.Restore(with.ordered.address(), any.x(), any.matrix().columns()),
              tokens));
    }
    for (KernelArguments.Product each : products) {
      work.add(isForLibrary(each.matrix()) ? prepare(with, each, tokens) : own(each, tokens));
    }
    return work;
  }

  private StreamWork own(KernelArguments.Product product, int tokens) {
    return kernels.multiply(product, tokens);
  }

  /**
   * Rows beyond those that a Step has are multiplied, too: nobody reads what comes of them, and no
   * row's numbers get into another's.
   */
  private StreamWork prepare(Library with, KernelArguments.Product product, int tokens) {
    CudaMatrix matrix = product.matrix();
    MatrixProduct prepared =
        with.cublasLt.prepare(
            new MatrixProduct.Operands(
                matrix.address(),
                with.ordered.address(),
                product.out(),
                matrix.rows(),
                matrix.columns(),
                tokens));
    // Once for nothing: the library loads its kernels when it first launches them, and that is
    // better done before a launch is recorded. Only a Step's own numbers are overwritten.
    kernels.gpu().stream().launch(prepared);
    return prepared;
  }
}
