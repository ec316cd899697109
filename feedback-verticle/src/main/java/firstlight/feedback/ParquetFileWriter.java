package firstlight.feedback;

import firstlight.lake.LakeFile;
import firstlight.lake.LakeFile.Bounds;
import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.Schema;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.OutputFile;
import org.jspecify.annotations.Nullable;

/** One Parquet file of one folder, written on the local disk. Blocks: for worker threads only. */
final class ParquetFileWriter {
  private static final String DIGEST = "firstlight.digest";
  private static final long MICROS = 1_000;
  private static final int MAGIC = 0x31524150; // PAR1
  private static final int TAIL_BYTES = 2 * Integer.BYTES;
  private static final int FOOTER_BYTES_MAX = 64 << 20;
  private static final int PAGE_BYTES = 256 << 10;
  private static final int DICTIONARY_BYTES = 256 << 10;

  private final LakeFolder folder;
  private final Path path;
  private final MessageDigest digest = Sha256.begin();
  private final ParquetWriter<LakeRow> writer;
  private String digestHex = "";
  private int rows;
  private @Nullable Bounds times;
  private @Nullable Bounds offsets;

  /**
   * A finished file.
   *
   * @param digest covers its rows' offsets and event ids
   * @param times of its Events, Unix time in microseconds; null where they can not be right
   */
  record Finished(
      LakeFolder folder,
      Path path,
      int rows,
      long bytes,
      String digest,
      @Nullable Bounds times,
      Bounds offsets) {

    /** As the tables are told of it, once it is in the bucket. */
    LakeFile at(String uri, long length, int partition) {
      return new LakeFile(
          uri, rows, length, folder.day(), times, new Bounds(partition, partition), offsets);
    }
  }

  /**
   * @param schema of the folder's table
   */
  ParquetFileWriter(LakeFolder folder, Path path, Schema schema, long rowGroupBytes)
      throws IOException {
    this.folder = folder;
    this.path = path;
    Files.deleteIfExists(path);
    writer =
        new Builder(
                new LocalOutputFile(path),
                new LakeWriteSupport(folder, schema, () -> Map.of(DIGEST, digestHex)))
            .withConf(new PlainParquetConfiguration())
            .withCodecFactory(new ZstdCodecs())
            .withCompressionCodec(CompressionCodecName.ZSTD)
            .withRowGroupSize(rowGroupBytes)
            .withPageSize(PAGE_BYTES)
            .withDictionaryPageSize(DICTIONARY_BYTES)
            .build();
  }

  void write(LakeRow row) throws IOException {
    digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, row.offset()));
    digest.update(row.event().getId().getBytes(StandardCharsets.UTF_8));
    writer.write(row);
    rows++;
    offsets = with(offsets, row.offset());
    if (folder.sane()) {
      times = with(times, row.event().getTime());
    }
  }

  private static Bounds with(@Nullable Bounds bounds, long value) {
    return bounds == null ? new Bounds(value, value) : bounds.with(value);
  }

  Finished finish() throws IOException {
    digestHex = HexFormat.of().formatHex(digest.digest());
    writer.close();
    if (offsets == null) {
      throw new IllegalStateException("a file without rows");
    }
    return new Finished(
        folder,
        path,
        rows,
        Files.size(path),
        digestHex,
        times == null ? null : new Bounds(times.min() * MICROS, times.max() * MICROS),
        offsets);
  }

  /** Gives everything back; the file is of no use any more. */
  void abandon() {
    try {
      writer.close();
    } catch (IOException | RuntimeException _) {
      // The disk may be full; the file goes anyway.
    }
  }

  /**
   * The digest in a finished file's footer; empty where it has none. Parquet's own reader would
   * need Hadoop.
   *
   * @throws IOException also when it is no Parquet file
   */
  static String digestOf(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      ByteBuffer tail = ByteBuffer.allocate(TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      long end = file.size() - TAIL_BYTES;
      if (end < 0 || file.read(tail, end) < TAIL_BYTES || tail.getInt(Integer.BYTES) != MAGIC) {
        throw new IOException("no Parquet file");
      }
      int length = tail.getInt(0);
      if (length < 0 || length > Math.min(end, FOOTER_BYTES_MAX)) {
        throw new IOException("a broken Parquet file");
      }
      file.position(end - length);
      List<KeyValue> footer =
          Util.readFileMetaData(Channels.newInputStream(file)).getKey_value_metadata();
      return footer.stream()
          .filter(each -> each.getKey().equals(DIGEST))
          .map(KeyValue::getValue)
          .findFirst()
          .orElse("");
    }
  }

  private static final class Builder extends ParquetWriter.Builder<LakeRow, Builder> {
    private final LakeWriteSupport support;

    Builder(OutputFile file, LakeWriteSupport support) {
      super(file);
      this.support = support;
    }

    @Override
    protected Builder self() {
      return this;
    }

    @Override
    protected WriteSupport<LakeRow> getWriteSupport(ParquetConfiguration configuration) {
      return support;
    }

    @Override
    @SuppressWarnings("deprecation") // It is abstract, so it must be here.
    protected WriteSupport<LakeRow> getWriteSupport(Configuration configuration) {
      return support;
    }
  }
}
