package firstlight.edge;

import firstlight.protocol.Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Settings of TLS, with which clients speak HTTP/1.1 or HTTP/2 as they agree. Without it they speak
 * in the clear: HTTP/1.1, or HTTP/2 (h2c).
 *
 * @param certificate file of the certificate and those that sign it, PEM; empty: no TLS
 * @param key file of its private key, PEM; empty: no TLS
 */
public record TlsConfig(String certificate, String key) {

  boolean isOn() {
    return !certificate.isEmpty();
  }

  /** Reads the section {@code edge.tls}. */
  static TlsConfig read(Settings settings) {
    TlsConfig read = new TlsConfig(settings.text("certificate", ""), settings.text("key", ""));
    settings
        .problems()
        .require(
            read.certificate.isEmpty() == read.key.isEmpty(),
            "edge.tls needs both a certificate and a key, or neither");
    for (String file : new String[] {read.certificate, read.key}) {
      settings
          .problems()
          .require(
              file.isEmpty() || Files.isReadable(Path.of(file)),
              "edge.tls: the file %s can not be read".formatted(file));
    }
    settings.done();
    return read;
  }

  HttpServerOptions configure(HttpServerOptions options) {
    return isOn()
        ? options
            .setSsl(true)
            .setUseAlpn(true)
            .setKeyCertOptions(new PemKeyCertOptions().setCertPath(certificate).setKeyPath(key))
        : options;
  }
}
