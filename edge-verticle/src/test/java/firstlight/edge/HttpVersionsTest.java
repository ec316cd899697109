package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Goal: a client speaks the version of HTTP that it likes, in the clear or encrypted. */
class HttpVersionsTest {
  private static final String NAME = "edge";
  private static final String PASSWORD = "of no secret";

  @ParameterizedTest
  @EnumSource(HttpClient.Version.class)
  void a_stream_comes_over_either_version_in_the_clear(HttpClient.Version version)
      throws Exception {
    EdgeFixture edge = new EdgeFixture("").saying("Hi there");
    try (HttpClient client = HttpClient.newBuilder().version(version).build()) {
      checkStream(client, version, edge, "http://127.0.0.1:");
    } finally {
      edge.close();
    }
  }

  @ParameterizedTest
  @EnumSource(HttpClient.Version.class)
  void a_stream_comes_over_either_version_encrypted(
      HttpClient.Version version, @TempDir Path folder) throws Exception {
    KeyStore made = madeBy(folder.resolve("edge.p12"));
    Path chain =
        pem(folder.resolve("chain.pem"), "CERTIFICATE", made.getCertificate(NAME).getEncoded());
    Path key =
        pem(
            folder.resolve("key.pem"),
            "PRIVATE KEY",
            made.getKey(NAME, PASSWORD.toCharArray()).getEncoded());
    EdgeFixture edge =
        new EdgeFixture("tls: {certificate: %s, key: %s}".formatted(chain, key)).saying("Hi there");
    try (HttpClient client =
        HttpClient.newBuilder().version(version).sslContext(trusting(made)).build()) {
      checkStream(client, version, edge, "https://localhost:");
    } finally {
      edge.close();
    }
  }

  /** A certificate for localhost, by the tool of this very JDK. */
  private static KeyStore madeBy(Path file) throws Exception {
    Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    Process process =
        new ProcessBuilder(
                List.of(
                    tool.toString(),
                    "-genkeypair",
                    "-alias",
                    NAME,
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=localhost",
                    "-ext",
                    "san=dns:localhost",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    PASSWORD,
                    "-keystore",
                    file.toString()))
            .inheritIO()
            .start();
    assertThat(process.waitFor()).isZero();
    return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
  }

  private static Path pem(Path file, String kind, byte[] der) throws Exception {
    String text = Base64.getMimeEncoder().encodeToString(der);
    return Files.writeString(
        file, "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n".formatted(kind, text));
  }

  private static SSLContext trusting(KeyStore made) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry(NAME, made.getCertificate(NAME));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static void checkStream(
      HttpClient client, HttpClient.Version version, EdgeFixture edge, String address)
      throws Exception {
    URI ready = URI.create(address + edge.port() + "/health/ready");
    Waiting.until(
        () ->
            client
                    .send(
                        HttpRequest.newBuilder(ready).build(),
                        HttpResponse.BodyHandlers.discarding())
                    .statusCode()
                == 200);
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(URI.create(address + edge.port() + "/v1/completions"))
                  .header("Authorization", "Bearer " + EdgeFixture.KEY)
                  .header("Content-Type", "application/json")
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          "{\"model\":\"bytes\",\"prompt\":\"x\",\"stream\":true}"))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      assertThat(response.version()).isEqualTo(version);
      assertThat(response.body()).contains("\"text\":\"H").endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void a_certificate_needs_its_key_and_both_must_be_there() {
    Settings settings = Settings.parse("{certificate: /no/such/file}", _ -> null);
    TlsConfig.read(settings);
    assertThat(settings.problems().found())
        .isEqualTo(
            List.of(
                "edge.tls needs both a certificate and a key, or neither",
                "edge.tls: the file /no/such/file can not be read"));
  }
}
