package firstlight.gpu;

import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Matrix products alone, for benchmarks: all tensors of a model that are alike, packed as the
 * device packs them and multiplied one after the other, so that their weights come from memory as
 * they do in a Step. Used by one thread at a time.
 */
public final class KernelTrial implements AutoCloseable {
  private static final int MATRIX = 2;

  private final List<Matrix> matrices;
  private final Activations in;
  private final float[] out;
  private final DeviceThreads threads;

  /**
   * Tensors that are alike.
   *
   * @param type as in the file
   * @param rows outputs
   * @param columns inputs
   * @param names of the tensors
   * @param bytes of all of them in the file
   */
  public record Shape(String type, long rows, int columns, List<String> names, long bytes) {
    public Shape {
      names = List.copyOf(names);
    }

    /** Multiplications and additions of one token by all of the tensors. */
    public long operations() {
      return 2 * rows * columns * names.size();
    }
  }

  /**
   * @param tokens multiplied at once
   */
  public KernelTrial(ModelFile file, GpuConfig config, Shape shape, int tokens) {
    MatrixPacker packer = new MatrixPacker(config.kernels(), CpuDevice.natively(config));
    this.matrices = shape.names.stream().map(name -> packer.pack(file.tensor(name))).toList();
    this.in = new Activations(tokens, shape.columns, matrices.getFirst().forms());
    this.out = new float[tokens * matrices.getFirst().stride()];
    this.threads = new DeviceThreads("firstlight-trial", Math.max(1, config.threads()));
    for (int token = 0; token < tokens; token++) {
      for (int column = 0; column < shape.columns; column++) {
        in.values[in.row(token) + column] = (float) Math.sin(token + 0.1 * column);
      }
      in.quantise(token);
    }
  }

  /** What there is to multiply in a model, in the order of the file. */
  public static List<Shape> shapes(ModelFile file) {
    Map<String, List<Tensor>> alike = new LinkedHashMap<>();
    for (Tensor tensor : file.tensors()) {
      if (tensor.shape().length == MATRIX) {
        String key = "%s %d %d".formatted(tensor.type(), tensor.rows(), tensor.columns());
        alike.computeIfAbsent(key, _ -> new ArrayList<>()).add(tensor);
      }
    }
    return alike.values().stream().map(KernelTrial::shape).toList();
  }

  private static Shape shape(List<Tensor> tensors) {
    Tensor first = tensors.getFirst();
    return new Shape(
        first.type().name(),
        first.rows(),
        first.columns(),
        tensors.stream().map(Tensor::name).toList(),
        tensors.stream().mapToLong(tensor -> tensor.data().byteSize()).sum());
  }

  /** Multiplies all once. */
  public void run() {
    threads.run(
        matrices.size(),
        turn -> {
          for (Matrix matrix : matrices) {
            turn.together(share -> matrix.multiply(in, in.tokens, out, share));
          }
        });
  }

  @Override
  public void close() {
    threads.close();
  }
}
