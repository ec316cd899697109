package firstlight.app;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.jspecify.annotations.Nullable;

/** The S3 protocol over a folder, in this JVM. */
final class EmbeddedObjectStore implements EmbeddedService {
  static final String ACCESS_KEY = "firstlight";
  static final String SECRET_KEY = "firstlight-local";

  private final Path directory;
  private final int port;
  private @Nullable S3Proxy server;

  EmbeddedObjectStore(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  @Override
  public String name() {
    return "object store";
  }

  @Override
  public void start() throws Exception {
    Files.createDirectories(directory);
    S3Proxy proxy =
        S3Proxy.builder()
            .blobStore(new FilesystemNio2BlobStore(directory.toString()))
            .endpoint(URI.create("http://127.0.0.1:" + port))
            .awsAuthentication(AuthenticationType.AWS_V4, ACCESS_KEY, SECRET_KEY)
            .ignoreUnknownHeaders(true)
            // Whoever uses it has stopped before: only idle connections would be waited for.
            .stopTimeout(0)
            .build();
    server = proxy;
    proxy.start();
  }

  @Override
  public void close() throws IOException {
    if (server == null) {
      return;
    }
    try {
      server.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IOException("the object store does not stop", e);
    }
    server = null;
  }
}
