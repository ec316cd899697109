package firstlight.lake;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/** An S3 server over a folder: a folder in it for each bucket, a file for each object. */
public final class EmbeddedS3 implements AutoCloseable {
  private final S3Proxy server;

  private EmbeddedS3(S3Proxy server) {
    this.server = server;
  }

  /**
   * Starts a server; blocks until it serves.
   *
   * @param port 0: any free one
   */
  public static EmbeddedS3 start(Path folder, int port, String accessKey, String secretKey)
      throws Exception {
    Files.createDirectories(folder);
    S3Proxy server =
        S3Proxy.builder()
            .endpoint(URI.create("http://127.0.0.1:" + port))
            .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, accessKey, secretKey)
            .blobStore(new FilesystemNio2BlobStore(folder.toString()))
            .build();
    server.start();
    return new EmbeddedS3(server);
  }

  public int port() {
    return server.getPort();
  }

  public String endpoint() {
    return "http://127.0.0.1:" + server.getPort();
  }

  @Override
  public void close() {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the S3 server does not stop", e);
    }
  }
}
