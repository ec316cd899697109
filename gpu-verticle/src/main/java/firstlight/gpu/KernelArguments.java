package firstlight.gpu;

import firstlight.gpu.cuda.StructWriter;

/**
 * What kernels are told: a record for each structure of their sources, with the same fields in the
 * same order. Longs are addresses, 0 where there is nothing.
 */
interface KernelArguments {
  StructWriter write();

  /** {@code Matrix} of {@code quants.cuh}. */
  private static StructWriter append(StructWriter into, CudaMatrix matrix) {
    return into.pointer(matrix.address())
        .longs(matrix.rowBytes())
        .ints(matrix.type().ordinal(), matrix.columns());
  }

  record Embed(long stream, CudaMatrix matrix, long tokens, float factor, long counts)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      return append(new StructWriter().pointer(stream), matrix)
          .pointer(matrix.scales())
          .pointer(tokens)
          .real(factor)
          .pointer(counts);
    }
  }

  /** Of {@code widen} and {@code narrow}. */
  record Convert(long to, long scales, CudaMatrix from) implements KernelArguments {
    @Override
    public StructWriter write() {
      return append(new StructWriter().pointer(to).pointer(scales), from);
    }
  }

  /**
   * @param wanted rows of the stream that are taken; 0: all
   */
  record AddNorm(
      long out,
      long stream,
      long added,
      long postNorm,
      long norm,
      long wanted,
      long counts,
      int size,
      float epsilon)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter()
          .pointer(out)
          .pointer(stream)
          .pointer(added)
          .pointer(postNorm)
          .pointer(norm)
          .pointer(wanted)
          .pointer(counts)
          .ints(size, size)
          .real(epsilon);
    }
  }

  record Activate(long out, long gates, long ups, long counts, int size, boolean isGelu)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter()
          .pointer(out)
          .pointer(gates)
          .pointer(ups)
          .pointer(counts)
          .ints(size, size)
          .flag(isGelu);
    }
  }

  /** Rows of a product's input in the order of elements again. */
  record Restore(long to, long from, int size) implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter().pointer(to).pointer(from).ints(size);
    }
  }

  /**
   * @param first of the sampled rows; of meaning where {@code isSampled}
   * @param limit how many from it on
   * @param apart floats from a range's sums to the next one's; 0: they are added
   */
  record Product(
      long out,
      CudaMatrix matrix,
      long x,
      boolean isSampled,
      int first,
      int limit,
      long apart,
      long counts)
      implements KernelArguments {

    /** Of all rows of a Step. */
    static Product of(long out, CudaMatrix matrix, long x, long counts) {
      return new Product(out, matrix, x, false, 0, Integer.MAX_VALUE, 0, counts);
    }

    /** Of so many sampled rows from one on. */
    static Product ofSampled(
        long out, CudaMatrix matrix, long x, int first, int limit, long counts) {
      return new Product(out, matrix, x, true, first, limit, 0, counts);
    }

    /** Of all rows of a Step, the sums of the ranges apart. */
    static Product ofRanges(long out, CudaMatrix matrix, long x, long apart, long counts) {
      return new Product(out, matrix, x, false, 0, Integer.MAX_VALUE, apart, counts);
    }

    @Override
    public StructWriter write() {
      return new StructWriter()
          .pointer(out)
          .pointer(matrix.address())
          .longs(matrix.rowBytes())
          .pointer(matrix.scales())
          .pointer(x)
          .ints(matrix.rows(), matrix.columns(), matrix.rows())
          .flag(isSampled)
          .ints(first, limit, matrix.ranges())
          .longs(apart)
          .pointer(counts);
    }
  }

  record AddRanges(long out, long parts, long apart, int size, long counts)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter().pointer(out).pointer(parts).longs(apart).ints(size).pointer(counts);
    }
  }

  /**
   * {@code Memory} of {@code attention.cuh}: the KV memory as one layer sees it.
   *
   * @param blockSize halves of a Block
   * @param offset of the layer in a Block
   */
  record Memory(
      long base, long blockSize, long offset, int blockTokens, int headSize, int kvHeads) {
    private StructWriter write(StructWriter into) {
      return into.align()
          .pointer(base)
          .longs(blockSize, offset)
          .ints(blockTokens, headSize, kvHeads)
          .align();
    }
  }

  /**
   * Where the products of a row with the three matrices of attention are, and what is done to them.
   *
   * @param turns {@code [position][pairs]} cosine and sine
   */
  record Heads(
      long queries,
      long keys,
      long values,
      int heads,
      long queryNorm,
      long keyNorm,
      float epsilon,
      long turns,
      int pairs,
      boolean isInterleaved) {}

  record Rotation(
      Heads heads, long tables, long tableOf, long positions, long out, Memory memory, long counts)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      int kvWidth = memory.kvHeads * memory.headSize;
      StructWriter into =
          new StructWriter()
              .pointer(heads.queries)
              .pointer(heads.keys)
              .pointer(heads.values)
              .ints(heads.heads * memory.headSize, kvWidth, kvWidth)
              .pointer(heads.queryNorm)
              .pointer(heads.keyNorm)
              .real(heads.epsilon)
              .pointer(heads.turns)
              .ints(heads.pairs)
              .flag(heads.isInterleaved)
              .ints(heads.heads)
              .pointer(tables)
              .pointer(tableOf)
              .pointer(positions)
              .pointer(out);
      return memory.write(into).pointer(counts);
    }
  }

  /**
   * How scores are made.
   *
   * @param group query heads of a KV head
   * @param softcap 0: none
   * @param window positions that a row sees, its own included
   */
  record Scores(int group, float scale, float softcap, int window) {}

  record Attend(
      long out,
      long partials,
      long queries,
      long tiles,
      long tables,
      Scores scores,
      Memory memory,
      long counts)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      StructWriter into =
          new StructWriter()
              .pointer(out)
              .pointer(partials)
              .pointer(queries)
              .pointer(tiles)
              .pointer(tables)
              .ints(scores.group)
              .real(scores.scale)
              .real(scores.softcap)
              .ints(scores.window);
      return memory.write(into).pointer(counts);
    }
  }

  /** {@code Sampling} of {@code sample.cuh}. */
  record Sample(
      long logits,
      long adjusted,
      long choices,
      long extras,
      long answers,
      long counts,
      int vocabulary,
      float softcap,
      int first)
      implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter()
          .pointer(logits)
          .pointer(adjusted)
          .pointer(choices)
          .pointer(extras)
          .pointer(answers)
          .pointer(counts)
          .ints(vocabulary)
          .real(softcap)
          .ints(first);
    }
  }

  /**
   * {@code Fill} of {@code measure.cuh}: memory that gets random numbers.
   *
   * @param words of 16 bits
   * @param blockWords of a block of quantised weights
   * @param firstScale which of them is the first scale
   */
  record Fill(
      long to,
      long words,
      long seed,
      float factor,
      FillKind kind,
      int blockWords,
      int firstScale,
      int scales)
      implements KernelArguments {
    /** The standard deviation of what four numbers of 16 bits add up to. */
    private static final double DEVIATION = 37837.2;

    private static final float SCALES = 1 << 16;

    /** Numbers with a standard deviation. */
    static Fill numbers(FillKind kind, long to, long count, long seed, double deviation) {
      return new Fill(to, count, seed, (float) (deviation / DEVIATION), kind, 1, 0, 0);
    }

    /** Quantised weights whose scales are near one number. */
    static Fill blocks(CudaMatrix matrix, long seed, double scale) {
      CudaWeightType type = matrix.type();
      int blockWords = (int) type.rowBytes(type.blockElements()) / Short.BYTES;
      int scales =
          switch (type) {
            case Q8_0, Q4_0, Q5_0, Q6_K -> 1;
            case Q4_1, Q5_1, Q4_K, Q5_K -> 2;
            case BF16, FP8 -> throw new IllegalArgumentException(type + " has no blocks");
          };
      int first = type == CudaWeightType.Q6_K ? blockWords - 1 : 0;
      long words = matrix.rows() * matrix.rowBytes() / Short.BYTES;
      float factor = (float) scale / SCALES;
      return new Fill(
          matrix.address(), words, seed, factor, FillKind.BLOCKS, blockWords, first, scales);
    }

    @Override
    public StructWriter write() {
      return new StructWriter()
          .pointer(to)
          .longs(words, seed)
          .real(factor)
          .ints(kind.ordinal(), blockWords, firstScale, scales);
    }
  }

  /** As in {@code measure.cuh}. */
  enum FillKind {
    BF16,
    HALF,
    BLOCKS
  }

  /**
   * {@code Reading} of {@code measure.cuh}.
   *
   * @param count of 16 bytes each
   * @param out a word of each thread
   */
  record Reading(long from, long count, long out) implements KernelArguments {
    @Override
    public StructWriter write() {
      return new StructWriter().pointer(from).longs(count).pointer(out);
    }
  }
}
