package firstlight.feedback;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A bucket with the S3 protocol. A file is one put, so that no cut file and no half upload is ever
 * seen; a put of a name that is taken answers 412.
 */
final class S3LakeStore implements LakeStore {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(50);
  private static final int PRECONDITION_FAILED = 412;
  private static final long PUT_BYTES_MAX = 5L << 30;

  private final FeedbackConfig.S3 config;
  private final S3Client client;

  S3LakeStore(FeedbackConfig.S3 config) {
    this.config = config;
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClient(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(CONNECT_TIMEOUT)
                    .socketTimeout(SOCKET_TIMEOUT)
                    .build())
            .overrideConfiguration(override -> override.apiCallTimeout(CALL_TIMEOUT))
            .region(Region.of(config.region()))
            .forcePathStyle(true)
            // Not every store with this protocol knows the newer checksums.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    if (!config.endpoint().isEmpty()) {
      builder.endpointOverride(URI.create(config.endpoint()));
    }
    if (!config.accessKey().isEmpty()) {
      builder.credentialsProvider(
          StaticCredentialsProvider.create(
              AwsBasicCredentials.create(config.accessKey(), config.secretKey())));
    }
    client = builder.build();
  }

  @Override
  public void prepare() throws IOException {
    call(
        () -> {
          try {
            client.headBucket(head -> head.bucket(config.bucket()));
          } catch (NoSuchBucketException e) {
            if (!config.create()) {
              throw e;
            }
            client.createBucket(create -> create.bucket(config.bucket()));
          }
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
