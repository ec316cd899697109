package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.TenantId;
import org.junit.jupiter.api.Test;

class BookingsTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");
  private static final long SECOND = 1_000_000_000L;

  private final Bookings bookings = new Bookings(3);

  private long book(TenantId tenant, long key, long now) {
    return bookings.book(tenant, key, now, now + SECOND, 0.9 * SECOND);
  }

  @Test
  void places_follow_each_other_as_fast_as_the_backlog_drains() {
    assertThat(book(A, 1, 0)).isEqualTo(SECOND);
    assertThat(book(A, 2, 0)).isEqualTo(2 * SECOND);
    assertThat(book(A, 3, 0)).isEqualTo(3 * SECOND);
  }

  @Test
  void who_comes_back_in_time_is_known_once() {
    long due = book(A, 1, 0);
    assertThat(bookings.claim(A, 1, due - SECOND / 10)).isFalse();
    assertThat(bookings.claim(A, 2, due)).isFalse();
    assertThat(bookings.claim(B, 1, due)).isFalse();
    assertThat(bookings.open(A, due)).isTrue();
    assertThat(bookings.claim(A, 1, due)).isTrue();
    assertThat(bookings.claim(A, 1, due)).isFalse();
    assertThat(bookings.open(A, due)).isFalse();
  }

  @Test
  void equal_prompts_have_a_place_each() {
    book(A, 1, 0);
    book(A, 1, 0);
    assertThat(bookings.claim(A, 1, 2 * SECOND)).isTrue();
    assertThat(bookings.claim(A, 1, 2 * SECOND)).isTrue();
    assertThat(bookings.size()).isZero();
  }

  @Test
  void a_place_that_nobody_takes_is_given_up_after_a_while() {
    long due = book(A, 1, 0);
    assertThat(bookings.open(A, due + 2 * SECOND)).isTrue();
    assertThat(bookings.open(A, due + 2 * SECOND + 1)).isFalse();
    assertThat(bookings.size()).isZero();
    assertThat(bookings.claim(A, 1, due + 2 * SECOND + 1)).isFalse();
  }

  @Test
  void when_places_are_not_taken_they_are_given_out_more_densely() {
    for (int i = 0; i < 100; i++) {
      book(A, i, 100 * i * SECOND);
    }
    long now = 100_000 * SECOND;
    long first = book(A, 1, now);
    assertThat(book(A, 2, now) - first).isLessThan(SECOND / 4);
  }

  @Test
  void each_tenant_has_a_line_of_its_own() {
    book(A, 1, 0);
    book(A, 2, 0);
    assertThat(book(B, 1, 0)).isEqualTo(SECOND);
    assertThat(bookings.open(B, 0)).isTrue();
  }

  @Test
  void there_are_only_so_many_places_and_the_rest_is_told_the_end_of_the_line() {
    for (int i = 0; i < 10; i++) {
      book(A, i, 0);
    }
    assertThat(bookings.size()).isEqualTo(3);
    assertThat(book(A, 99, 0)).isEqualTo(4 * SECOND);
  }
}
