package firstlight.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the head of a GGUF file, versions 2 and 3: magic, version, counts, metadata, the table of
 * tensors. Then come the tensors' bytes, from the next multiple of the alignment on.
 *
 * <p>Whatever the file says is checked before it is believed, and what is read is bounded by the
 * limits here and by the file's own size. Bytes behind the last tensor are allowed.
 */
final class GgufReader {
  static final int TENSORS_MAX = 1 << 16;
  static final int TENSOR_NAME_BYTES_MAX = 64;
  static final int DIMENSIONS_MAX = 4;
  static final int ALIGNMENT_MAX = 1 << 20;
  private static final int MAGIC = 'G' | 'G' << 8 | 'U' << 16 | 'F' << 24;
  private static final int ALIGNMENT_DEFAULT = 32;
  private static final int TENSOR_BYTES_MIN = 8 + 1 + 4 + 8 + 4 + 8;

  private final GgufCursor in;

  private GgufReader(GgufCursor in) {
    this.in = in;
  }

  static GgufHead read(GgufCursor in) {
    return new GgufReader(in).head();
  }

  private GgufHead head() {
    checkMagic();
    checkVersion();
    int tensors = (int) in.count("the number of tensors", TENSORS_MAX, TENSOR_BYTES_MIN);
    Metadata metadata = new GgufMetadataReader(in).read();
    refuseParts(metadata);
    int alignment = alignment(metadata);
    List<GgufHead.Entry> entries = entries(tensors, alignment);
    checkOverlap(entries);
    return new GgufHead(metadata, entries);
  }

  private void checkMagic() {
    int magic = in.int32("the word GGUF at the beginning");
    if (magic != MAGIC) {
      throw in.invalid(
          0,
          "not a GGUF file: it begins with the bytes %08x".formatted(Integer.reverseBytes(magic)));
    }
  }

  private void checkVersion() {
    long at = in.position();
    int version = in.int32("the version");
    if (version == 2 || version == 3) {
      return;
    }
    int swapped = Integer.reverseBytes(version);
    throw in.invalid(
        at,
        swapped > 0 && swapped < 16
            ? "a big-endian file (GGUF version %d); only little-endian ones are supported"
                .formatted(swapped)
            : "unsupported GGUF version %s; supported are 2 and 3"
                .formatted(Integer.toUnsignedString(version)));
  }

  private void refuseParts(Metadata metadata) {
    long parts = metadata.findInteger("split.count").orElse(1);
    if (parts > 1) {
      throw metadata.invalid(
          "split.count", "says that this is one of %d parts; join them first".formatted(parts));
    }
  }

  private int alignment(Metadata metadata) {
    long alignment = metadata.findInteger("general.alignment").orElse(ALIGNMENT_DEFAULT);
    if (alignment < 1 || alignment > ALIGNMENT_MAX || Long.bitCount(alignment) != 1) {
      throw metadata.invalid(
          "general.alignment",
          "is %d, but must be a power of two up to %d".formatted(alignment, ALIGNMENT_MAX));
    }
    return (int) alignment;
  }

  /** The table, with positions in the file instead of those behind the table. */
  private List<GgufHead.Entry> entries(int count, int alignment) {
    List<GgufHead.Entry> relative = new ArrayList<>(count);
    Set<String> names = new HashSet<>();
    for (int i = 0; i < count; i++) {
      long at = in.position();
      GgufHead.Entry entry = entry(alignment);
      if (!names.add(entry.name())) {
        throw in.invalid(at, "tensor %s is there twice".formatted(shown(entry)));
      }
      relative.add(entry);
    }
    long dataStart = (in.position() + alignment - 1) / alignment * alignment;
    List<GgufHead.Entry> entries = new ArrayList<>(count);
    for (GgufHead.Entry entry : relative) {
      entries.add(placed(entry, dataStart));
    }
    return entries;
  }

  private GgufHead.Entry entry(int alignment) {
    String name = in.name("the name of a tensor", TENSOR_NAME_BYTES_MAX);
    String of = "tensor " + InvalidModelFile.shown(name);
    long[] shape = shape(of);
    TensorType type = type(of);
    long bytes = bytes(of, type, shape);
    long at = in.position();
    long start = in.int64("the offset of " + of);
    if (start % alignment != 0) {
      throw in.invalid(
          at,
          "the offset %s of %s is not a multiple of the alignment %d"
              .formatted(Long.toUnsignedString(start), of, alignment));
    }
    return new GgufHead.Entry(name, type, shape, start, bytes);
  }

  private long[] shape(String of) {
    long at = in.position();
    int dimensions = in.int32("the number of dimensions of " + of);
    if (dimensions < 1 || dimensions > DIMENSIONS_MAX) {
      throw in.invalid(
          at,
          "%s has %s dimensions; 1 to %d are allowed"
              .formatted(of, Integer.toUnsignedString(dimensions), DIMENSIONS_MAX));
    }
    long[] shape = new long[dimensions];
    for (int i = 0; i < dimensions; i++) {
      long dimensionAt = in.position();
      shape[i] = in.int64("the shape of " + of);
      if (shape[i] < 1 || shape[i] > Integer.MAX_VALUE) {
        throw in.invalid(
            dimensionAt,
            "dimension %d of %s is %s; 1 to %d are allowed"
                .formatted(i, of, Long.toUnsignedString(shape[i]), Integer.MAX_VALUE));
      }
    }
    return shape;
  }

  private TensorType type(String of) {
    long at = in.position();
    int number = in.int32("the type of " + of);
    return TensorType.of(number)
        .orElseThrow(
            () ->
                in.invalid(
                    at,
                    "%s has the type number %s, which is not supported; supported are %s"
                        .formatted(of, Integer.toUnsignedString(number), TensorType.supported())));
  }

  private long bytes(String of, TensorType type, long[] shape) {
    if (shape[0] % type.blockElements() != 0) {
      throw in.invalid(
          in.position(),
          "a row of %s has %d elements, not a multiple of the %d of a %s block"
              .formatted(of, shape[0], type.blockElements(), type));
    }
    try {
      long bytes = shape[0] / type.blockElements() * type.blockBytes();
      for (int i = 1; i < shape.length; i++) {
        bytes = Math.multiplyExact(bytes, shape[i]);
      }
      return bytes;
    } catch (ArithmeticException _) {
      throw in.invalid(
          in.position(), "the size of %s is more than a number can hold".formatted(of));
    }
  }

  private GgufHead.Entry placed(GgufHead.Entry entry, long dataStart) {
    long room = in.size() - dataStart;
    // Subtracting only: a sum of the file's numbers could overflow.
    if (entry.start() < 0 || entry.start() > room || entry.bytes() > room - entry.start()) {
      throw in.invalid(
          in.size(),
          "tensor %s needs bytes %s..%s, file has %d"
              .formatted(
                  shown(entry),
                  Long.toUnsignedString(dataStart + entry.start()),
                  Long.toUnsignedString(dataStart + entry.end()),
                  in.size()));
    }
    return new GgufHead.Entry(
        entry.name(), entry.type(), entry.shape(), dataStart + entry.start(), entry.bytes());
  }

  private void checkOverlap(List<GgufHead.Entry> entries) {
    List<GgufHead.Entry> sorted = new ArrayList<>(entries);
    sorted.sort(Comparator.comparingLong(GgufHead.Entry::start));
    for (int i = 1; i < sorted.size(); i++) {
      GgufHead.Entry one = sorted.get(i - 1);
      GgufHead.Entry next = sorted.get(i);
      if (next.start() < one.end()) {
        throw in.invalid(
            next.start(),
            "tensors %s and %s lie over each other".formatted(shown(one), shown(next)));
      }
    }
  }

  private static String shown(GgufHead.Entry entry) {
    return InvalidModelFile.shown(entry.name());
  }
}
