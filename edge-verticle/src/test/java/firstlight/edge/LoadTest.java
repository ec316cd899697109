package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import org.junit.jupiter.api.Test;

class LoadTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");
  private final Load load =
      new Load(
          EdgeConfig.read(
                  Settings.parse(
                      "{open: true, limits: {requestsMax: 3, tenantRequestsMax: 2}}", _ -> null))
              .limits());

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

    load.giveBack(A);
    load.take(B);
  }

  @Test
  void a_place_is_given_back_once() {
    load.take(A);
    load.giveBack(A);

    assertThatThrownBy(() -> load.giveBack(A)).isInstanceOf(IllegalStateException.class);
  }
}
