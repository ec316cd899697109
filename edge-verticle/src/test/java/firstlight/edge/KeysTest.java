package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {
  private static final String HASHED = Keys.digest("hashed-key");

  private static Keys keys(String yaml) {
    Settings settings = Settings.parse(yaml, _ -> null);
    EdgeConfig config = EdgeConfig.read(settings);
    settings.problems().throwIfAny();
    return new Keys(config);
  }

  private final Keys keys =
      keys("tenants: {a: {key: key-a}, b: {key: key-b, keySha256: [" + HASHED + "]}}");

  @Test
  void each_key_belongs_to_its_tenant() {
    assertThat(keys.tenant(List.of("Bearer key-a"), List.of())).isEqualTo(new TenantId("a"));
    assertThat(keys.tenant(List.of("Bearer key-b"), List.of())).isEqualTo(new TenantId("b"));
    assertThat(keys.tenant(List.of("bearer hashed-key"), List.of())).isEqualTo(new TenantId("b"));
  }

  @Test
  void a_key_may_come_in_either_header_or_in_both() {
    assertThat(keys.tenant(List.of(), List.of("key-a"))).isEqualTo(new TenantId("a"));
    assertThat(keys.tenant(List.of("Bearer key-a"), List.of("key-a"))).isEqualTo(new TenantId("a"));
    for (List<String> plain :
        List.of(List.of("key-b"), List.of("wrong"), List.of(""), List.of("key-a", "key-a"))) {
      assertThatThrownBy(() -> keys.tenant(List.of("Bearer key-a"), plain))
          .isInstanceOf(MeshException.class);
    }
    assertThatThrownBy(() -> keys.tenant(List.of(""), List.of("key-a")))
        .isInstanceOf(MeshException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Bearer wrong",
        "Bearer key-a key-b",
        "key-a",
        "Basic key-a",
        "Bearer KEY-A"
      })
  void anything_else_is_refused(String header) {
    assertThatThrownBy(() -> keys.tenant(List.of(header), List.of()))
        .isInstanceOfSatisfying(
            MeshException.class,
            e -> {
              assertThat(e.code()).isEqualTo("invalid_api_key");
              assertThat(Errors.status(e)).isEqualTo(401);
            });
  }

  @Test
  void no_header_and_two_headers_are_refused() {
    assertThatThrownBy(() -> keys.tenant(List.of(), List.of())).isInstanceOf(MeshException.class);
    assertThatThrownBy(() -> keys.tenant(List.of("Bearer key-a", "Bearer key-a"), List.of()))
        .isInstanceOf(MeshException.class);
  }

  @Test
  void an_open_edge_asks_for_none() {
    assertThat(keys("open: true").tenant(List.of(), List.of())).isEqualTo(new TenantId("local"));
  }
}
