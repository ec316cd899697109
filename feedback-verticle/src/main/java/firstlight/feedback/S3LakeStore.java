package firstlight.feedback;

import firstlight.lake.LakeConfig;
import firstlight.lake.LakeS3;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A bucket with the S3 protocol. A file is one put, so that no cut file and no half upload is ever
 * seen; a put of a name that is taken answers 412.
 */
final class S3LakeStore implements LakeStore {
  private static final int PRECONDITION_FAILED = 412;
  private static final long PUT_BYTES_MAX = 5L << 30;

  private final LakeConfig.S3 config;
  private final S3Client client;

  S3LakeStore(LakeConfig.S3 config) {
    this.config = config;
    client = LakeS3.client(config);
  }

  @Override
  public void prepare() throws IOException {
    call(
        () -> {
          LakeS3.prepare(client, config);
          return true;
        });
  }

  @Override
  public boolean create(String name, Path content) throws IOException {
    if (Files.size(content) > PUT_BYTES_MAX) {
      throw new IOException("a file of more than 5 GiB; feedback.files.bytesMax is too large");
    }
    return create(name, RequestBody.fromFile(content));
  }

  @Override
  public boolean create(String name, byte[] content) throws IOException {
    return create(name, RequestBody.fromBytes(content));
  }

  private boolean create(String name, RequestBody body) throws IOException {
    return call(
        () -> {
          try {
            client.putObject(
                PutObjectRequest.builder()
                    .bucket(config.bucket())
                    .key(key(name))
                    .ifNoneMatch("*")
                    .build(),
                body);
            return true;
          } catch (S3Exception e) {
            if (e.statusCode() == PRECONDITION_FAILED) {
              return false;
            }
            throw e;
          }
        });
  }

  @Override
  public byte @Nullable [] read(String name) throws IOException {
    try {
      return client
          .getObjectAsBytes(get -> get.bucket(config.bucket()).key(key(name)))
          .asByteArray();
    } catch (NoSuchKeyException e) {
      return null;
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  @Override
  public void fetch(String name, Path to) throws IOException {
    Files.deleteIfExists(to);
    call(
        () ->
            client.getObject(
                get -> get.bucket(config.bucket()).key(key(name)), ResponseTransformer.toFile(to)));
  }

  @Override
  public void delete(String name) throws IOException {
    call(() -> client.deleteObject(delete -> delete.bucket(config.bucket()).key(key(name))));
  }

  @Override
  public String uri(String name) {
    return config.uri(name);
  }

  @Override
  public void close() {
    client.close();
  }

  private String key(String name) {
    return config.prefix() + name;
  }

  private static <T> T call(Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  private static IOException failure(SdkException e) {
    return new IOException("S3: " + e.getMessage(), e);
  }
}
