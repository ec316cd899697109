package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TenantSharesTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");

  private final SimulatedTime time = new SimulatedTime();
  private final TenantShares tenants = new TenantShares(2, time);

  @BeforeEach
  void somebody_has_to_wait() {
    tenants.crowded(true);
  }

  @Test
  void what_nobody_else_wanted_is_not_held_against_who_used_it() {
    TenantShare a = tenants.arrived(A);
    tenants.crowded(false);
    tenants.serve(a, 100_000);
    tenants.serve(a, 1_000);
    assertThat(tenants.arrived(B).served).isEqualTo(101_000);
    tenants.crowded(true);
    assertThat(tenants.servedOnArrival(new TenantId("c"))).isEqualTo(101_000);
  }

  @Test
  void what_was_served_since_somebody_had_to_wait_is_what_others_are_owed() {
    TenantShare a = tenants.arrived(A);
    tenants.crowded(false);
    tenants.serve(a, 100_000);
    tenants.serve(a, 1);
    tenants.crowded(true);
    tenants.serve(a, 1_000);
    tenants.serve(a, 1);
    assertThat(tenants.arrived(B).served).isEqualTo(100_000);
    tenants.serve(a, 10_000);
    assertThat(tenants.servedOnArrival(B)).isEqualTo(100_000);
  }

  @Test
  void one_that_comes_back_has_saved_up_no_more_than_a_burst() {
    TenantShare a = tenants.arrived(A);
    a.served = 100_000;
    assertThat(tenants.servedOnArrival(B)).isEqualTo(100_000 - TenantShares.BURST);
    assertThat(tenants.arrived(B).served).isEqualTo(100_000 - TenantShares.BURST);
  }

  @Test
  void one_that_asks_for_little_all_the_time_has_saved_up_no_more_than_a_burst() {
    TenantShare a = tenants.arrived(A);
    TenantShare b = tenants.arrived(B);
    tenants.serve(a, 100_000);
    tenants.serve(a, 1);
    assertThat(tenants.arrived(B)).isSameAs(b);
    assertThat(b.served).isEqualTo(100_000 - TenantShares.BURST);
  }

  @Test
  void who_waits_keeps_what_it_is_owed() {
    TenantShare a = tenants.arrived(A);
    TenantShare b = tenants.arrived(B);
    b.waiting = 1;
    tenants.serve(a, 100_000);
    tenants.serve(a, 1);
    assertThat(tenants.arrived(B).served).isZero();
  }

  @Test
  void many_that_come_one_after_the_other_are_not_each_before_the_last() {
    tenants.arrived(A).served = 100_000;
    for (int i = 0; i < 10; i++) {
      TenantShare next = tenants.arrived(new TenantId("t" + i));
      assertThat(next.served).isEqualTo(100_000 - TenantShares.BURST);
    }
  }

  @Test
  void a_tenant_is_ahead_of_others_that_are_there_or_were_lately() {
    TenantShare a = tenants.arrived(A);
    a.served = 100_000;
    tenants.compare();
    assertThat(tenants.ahead(a)).isFalse();
    TenantShare b = tenants.arrived(B);
    tenants.compare();
    assertThat(tenants.ahead(a)).isTrue();
    assertThat(tenants.ahead(b)).isFalse();
    tenants.left(b);
    time.advance(Duration.ofSeconds(10));
    tenants.compare();
    assertThat(tenants.ahead(a)).isTrue();
    time.advance(Duration.ofSeconds(1));
    tenants.compare();
    assertThat(tenants.ahead(a)).isFalse();
  }

  @Test
  void a_tenant_is_behind_others_that_were_served_more_or_ask_for_more() {
    TenantShare a = tenants.arrived(A);
    TenantShare b = tenants.arrived(B);
    tenants.compare();
    assertThat(tenants.behind(b)).isFalse();
    assertThat(tenants.apart()).isFalse();
    a.waitingTokens = 100_000;
    tenants.compare();
    assertThat(tenants.behind(b)).isTrue();
    assertThat(tenants.ahead(a)).isTrue();
    assertThat(tenants.apart()).isTrue();
    assertThat(a.rank()).isEqualTo(TenantShares.BURST);
    b.served = 3_000;
    assertThat(tenants.behind(b)).isFalse();
    a.served = 3_000;
    a.waitingTokens = 0;
    tenants.compare();
    assertThat(tenants.behind(a)).isFalse();
    assertThat(tenants.behind(b)).isFalse();
  }

  @Test
  void one_that_leaves_for_a_moment_keeps_what_it_had() {
    TenantShare a = tenants.arrived(A);
    TenantShare b = tenants.arrived(B);
    a.served = 1_000;
    b.served = 100;
    tenants.left(a);
    assertThat(tenants.arrived(A).served).isEqualTo(1_000);
  }

  @Test
  void when_nobody_was_left_all_begin_where_the_last_one_was() {
    TenantShare a = tenants.arrived(A);
    a.served = 100_000;
    tenants.left(a);
    assertThat(tenants.active()).isZero();
    assertThat(tenants.arrived(B).served).isEqualTo(100_000 - TenantShares.BURST);
    assertThat(tenants.arrived(A).served).isEqualTo(100_000);
  }

  @Test
  void a_tenant_is_there_until_its_last_sequence_has_ended() {
    TenantShare a = tenants.arrived(A);
    assertThat(tenants.arrived(A)).isSameAs(a);
    tenants.left(a);
    assertThat(tenants.active()).isEqualTo(1);
    tenants.left(a);
    assertThat(tenants.active()).isZero();
  }

  @Test
  void of_those_that_are_away_only_the_latest_are_remembered() {
    for (int i = 0; i < 10; i++) {
      tenants.left(tenants.arrived(new TenantId("t" + i)));
    }
    tenants.checkInvariants(List.of());
  }

  @Test
  void books_that_do_not_fit_are_noticed() {
    tenants.arrived(A);
    assertThatThrownBy(() -> tenants.checkInvariants(List.of()))
        .hasMessage("Sequences of tenants are miscounted");
  }
}
