package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class EdgeConfigTest {
  private static Settings settings(String yaml) {
    return Settings.parse(yaml, _ -> null);
  }

  @Test
  void everything_has_a_default_but_the_tenants() {
    Settings settings = settings("");
    EdgeConfig config = EdgeConfig.read(settings);

    assertThat(settings.problems().found())
        .containsExactly(
            "edge.tenants is empty: name a tenant with a key, or set edge.open to true");
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.port()).isEqualTo(8080);
    assertThat(config.limits().bodyBytesMax()).isEqualTo(16 << 20);
    assertThat(config.times().keepAlive()).isLessThanOrEqualTo(Duration.ofSeconds(15));
  }

  @Test
  void explicit_values_are_taken() {
    Settings settings =
        settings(
            """
            host: 0.0.0.0
            port: 0
            tenants:
              a: {key: k, text: none, contextMax: 100, outputMax: 10, requestsMax: 2, firstTokenMax: 1500ms}
              b: {key: l}
            corsOrigins: [https://example.org]
            limits: {bodyBytesMax: 1MiB, jsonDepthMax: 50, stopStringsMax: 4, creditTokens: 8,
                tenantRequestsMax: 7}
            times: {keepAlive: 2s, stallTimeout: 3s}
            """);
    EdgeConfig config = EdgeConfig.read(settings);

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.host()).isEqualTo("0.0.0.0");
    assertThat(config.tenants().getFirst().keyDigests()).containsExactly(Keys.digest("k"));
    assertThat(config.text(new TenantId("a"), true)).isEqualTo(TextPolicy.NONE);
    assertThat(config.text(new TenantId("local"), true)).isEqualTo(TextPolicy.FULL);
    assertThat(config.text(new TenantId("local"), false)).isEqualTo(TextPolicy.NONE);
    TenantConfig a = config.tenant(new TenantId("a"));
    assertThat(a.contextMax()).isEqualTo(100);
    assertThat(a.outputMax()).isEqualTo(10);
    assertThat(a.requestsMax()).isEqualTo(2);
    assertThat(a.firstTokenMax()).isEqualTo(Duration.ofMillis(1_500));
    for (String unlimited : List.of("b", "local")) {
      TenantConfig other = config.tenant(new TenantId(unlimited));
      assertThat(other.contextMax()).isEqualTo(Integer.MAX_VALUE);
      assertThat(other.outputMax()).isEqualTo(Integer.MAX_VALUE);
      assertThat(other.requestsMax()).isEqualTo(7);
      assertThat(other.firstTokenMax()).isZero();
    }
    assertThat(config.corsOrigins()).containsExactly("https://example.org");
    assertThat(config.limits().bodyBytesMax()).isEqualTo(1 << 20);
    assertThat(config.limits().jsonDepthMax()).isEqualTo(50);
    assertThat(config.limits().stopStringsMax()).isEqualTo(4);
    assertThat(config.limits().creditTokens()).isEqualTo(8);
    assertThat(config.times().keepAlive()).isEqualTo(Duration.ofSeconds(2));
    assertThat(config.times().stallTimeout()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void all_mistakes_are_told_at_once() {
    Settings settings =
        settings(
            """
            prt: 80
            port: 70000
            tenants:
              a: {}
              "b c": {key: k}
              d: {keySha256: [zz]}
              e: {key: e, contextMax: 1, firstTokenMax: 11m}
            limits: {bodyBytesMax: 1GiB, stopStringMax: 1}
            times: {keepAlive: 20s}
            """);
    EdgeConfig.read(settings);

    assertThat(String.join("\n", settings.problems().found()))
        .contains(
            "prt is not a setting",
            "port must be",
            "edge.tenants.a needs a key",
            "edge.tenants.b c",
            "edge.tenants.d.keySha256",
            "tenants.e.contextMax must be",
            "edge.tenants.e.firstTokenMax must be at most 10m",
            "edge.limits.bodyBytesMax",
            "did you mean limits.stopStringsMax?",
            "edge.times.keepAlive");
  }

  @Test
  void without_keys_the_local_tenant_may_have_limits() {
    Settings settings = settings("{open: true, tenants: {local: {requestsMax: 3}}}");
    EdgeConfig config = EdgeConfig.read(settings);

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.tenant(Keys.LOCAL).requestsMax()).isEqualTo(3);
  }

  @Test
  void a_key_is_never_printed() {
    Settings settings = settings("tenants: {a: {key: very-secret}}");
    EdgeConfig config = EdgeConfig.read(settings);

    assertThat(settings.effective()).noneMatch(line -> line.contains("very-secret"));
    assertThat(config.toString()).doesNotContain("very-secret");
  }
}
