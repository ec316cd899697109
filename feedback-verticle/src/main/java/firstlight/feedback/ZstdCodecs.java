package firstlight.feedback;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/** Zstandard for Parquet pages, without the codecs of Parquet, which need Hadoop. */
final class ZstdCodecs implements CompressionCodecFactory {
  private static final int LEVEL = 3;

  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    check(codec);
    return new Compressor();
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    check(codec);
    return new Decompressor();
  }

  @Override
  public void release() {
    // Nothing is held between pages.
  }

  private static void check(CompressionCodecName codec) {
    if (codec != CompressionCodecName.ZSTD) {
      throw new IllegalArgumentException("only ZSTD is written and read here, not " + codec);
    }
  }

  private static byte[] array(BytesInput bytes) throws IOException {
    ByteArrayOutputStream array = new ByteArrayOutputStream(Math.toIntExact(bytes.size()));
    bytes.writeAllTo(array);
    return array.toByteArray();
  }

  private static final class Compressor implements BytesInputCompressor {
    @Override
    public BytesInput compress(BytesInput bytes) throws IOException {
      return BytesInput.from(Zstd.compress(array(bytes), LEVEL));
    }

    @Override
    public CompressionCodecName getCodecName() {
      return CompressionCodecName.ZSTD;
    }

    @Override
    public void release() {
      // Nothing is held between pages.
    }
  }

  private static final class Decompressor implements BytesInputDecompressor {
    @Override
    public BytesInput decompress(BytesInput bytes, int size) throws IOException {
      return BytesInput.from(Zstd.decompress(array(bytes), size));
    }

    @Override
    public void decompress(ByteBuffer input, int inputSize, ByteBuffer output, int outputSize) {
      byte[] packed = new byte[inputSize];
      input.get(packed);
      output.put(Zstd.decompress(packed, outputSize));
    }

    @Override
    public void release() {
      // Nothing is held between pages.
    }
  }
}
