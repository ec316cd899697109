package firstlight.lake;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.apache.iceberg.aws.s3.S3FileIOAwsClientFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;

/** Clients of the lake's bucket. They block, and give a call up after a while. */
public final class LakeS3 {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(50);

  private LakeS3() {}

  /** Makes a client; asks nobody yet. */
  public static S3Client client(LakeConfig.S3 config) {
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
    return builder.build();
  }

  /**
   * Makes sure that the bucket is there.
   *
   * @throws software.amazon.awssdk.core.exception.SdkException it is not, or the store is away
   */
  public static void prepare(S3Client client, LakeConfig.S3 config) {
    try {
      client.headBucket(head -> head.bucket(config.bucket()));
    } catch (NoSuchBucketException e) {
      if (!config.create()) {
        throw e;
      }
      client.createBucket(create -> create.bucket(config.bucket()));
    }
  }

  /**
   * What Iceberg asks for a factory, although it is given its client: its own factory would load
   * the SDKs of AWS services that nobody uses here.
   */
  static final class NoFactory implements S3FileIOAwsClientFactory {
    @Override
    public void initialize(Map<String, String> properties) {
      // It makes nothing.
    }

    @Override
    public S3Client s3() {
      throw new IllegalStateException("the client is given");
    }

    @Override
    public S3AsyncClient s3Async() {
      throw new IllegalStateException("nothing is asynchronous");
    }
  }
}
