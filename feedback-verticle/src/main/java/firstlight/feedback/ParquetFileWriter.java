package firstlight.feedback;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.OutputFile;

/** One Parquet file of one folder, written on the local disk. Blocks: for worker threads only. */
final class ParquetFileWriter {
  private static final String DIGEST = "firstlight.digest";
  private static final int PAGE_BYTES = 256 << 10;
  private static final int DICTIONARY_BYTES = 256 << 10;

  private final LakeFolder folder;
  private final Path path;
  private final MessageDigest digest = sha256();
  private final ParquetWriter<LakeRow> writer;
  private String digestHex = "";
  private int rows;

  /** A finished file. The digest covers its rows' offsets and event ids. */
  record Finished(LakeFolder folder, Path path, int rows, long bytes, String digest) {}

  ParquetFileWriter(LakeFolder folder, Path path, long rowGroupBytes) throws IOException {
    this.folder = folder;
    this.path = path;
    Files.deleteIfExists(path);
    writer =
        new Builder(
                new LocalOutputFile(path),
                new LakeWriteSupport(folder.kind(), () -> Map.of(DIGEST, digestHex)))
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
  }

  Finished finish() throws IOException {
    digestHex = HexFormat.of().formatHex(digest.digest());
    writer.close();
    return new Finished(folder, path, rows, Files.size(path), digestHex);
  }

  /** Gives everything back; the file is of no use any more. */
  void abandon() {
    try {
      writer.close();
    } catch (IOException | RuntimeException _) {
      // The disk may be full; the file goes anyway.
    }
  }

  /** The digest in a finished file's footer; empty where it has none. */
  static String digestOf(Path path) throws IOException {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ZstdCodecs())
            .build();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(path), options)) {
      return reader.getFileMetaData().getKeyValueMetaData().getOrDefault(DIGEST, "");
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
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
