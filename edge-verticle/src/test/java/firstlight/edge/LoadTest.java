package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.MeshException;
import firstlight.protocol.TenantId;
import org.junit.jupiter.api.Test;

class LoadTest {
  private static final TenantConfig A = TenantConfig.unlimited(new TenantId("a"), 2);
  private static final TenantConfig B = TenantConfig.unlimited(new TenantId("b"), 2);
  private final TenantPlaces tenants = new TenantPlaces();
  private final Load load = new Load(3, tenants);

  @Test
  void a_tenant_has_its_own_limit_and_all_have_one_together() {
    load.take(A);
    load.take(A);
    assertThatThrownBy(() -> load.take(A))
        .isInstanceOfSatisfying(
            MeshException.class, e -> assertThat(e.code()).isEqualTo("tenant_requests_exceeded"));
    load.take(B);
    assertThatThrownBy(() -> load.take(B))
        .isInstanceOfSatisfying(
            MeshException.class,
            e -> {
              assertThat(e.code()).isEqualTo("requests_exceeded");
              assertThat(e.retryAfterMillis()).isPositive();
            });

    load.giveBack(A.id());
    load.take(B);
  }

  @Test
  void a_place_is_given_back_once() {
    load.take(A);
    load.giveBack(A.id());

    assertThatThrownBy(() -> load.giveBack(A.id())).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void a_tenant_has_its_limit_over_all_edges_of_a_node() {
    Load other = new Load(3, tenants);
    load.take(A);
    other.take(A);
    assertThatThrownBy(() -> load.take(A)).hasMessageContaining("2 requests");
    assertThatThrownBy(() -> other.take(A)).hasMessageContaining("2 requests");

    other.giveBack(A.id());
    load.take(A);
  }
}
