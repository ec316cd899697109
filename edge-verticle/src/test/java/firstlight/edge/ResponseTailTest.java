package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ResponseTailTest {
  private final Vertx vertx = Vertx.vertx();
  private final ResponseSoFar soFar = new ResponseSoFar(Json.object(), List.of("5"), true);
  private final ResponseTail tail = new ResponseTail(vertx, () -> soFar);

  @AfterEach
  void close() {
    ResponsesServer.await(vertx.close());
  }

  @Test
  void the_latest_events_are_kept_and_who_is_further_behind_gets_the_response_so_far() {
    add(0, 2 * ResponseTail.EVENTS_MAX);
    int first = ResponseTail.EVENTS_MAX;

    ResponseTail.Piece all = tail.after(first - 1).result();
    assertThat(all.events()).hasSize(ResponseTail.EVENTS_MAX);
    assertThat(ResponseTail.number(all.events().getFirst())).isEqualTo(first);
    assertThat(all.soFar()).isNull();
    ResponseTail.Piece behind = tail.after(first - 2).result();
    assertThat(behind.events()).isEmpty();
    assertThat(behind.soFar()).isEqualTo(soFar);
    assertThat(behind.over()).isFalse();
    assertThat(ResponseTail.Piece.of(behind.text())).isEqualTo(behind);
    assertThat(ResponseTail.Piece.of(all.text()).events())
        .extracting(ObjectNode::toString)
        .containsExactlyElementsOf(all.events().stream().map(ObjectNode::toString).toList());
  }

  @Test
  void who_has_all_waits_for_the_next_and_only_so_many_wait() {
    add(0, 3);
    List<Future<ResponseTail.Piece>> waiting = new ArrayList<>();
    for (int i = 0; i < ResponseTail.READERS_MAX; i++) {
      waiting.add(tail.after(2));
    }
    assertThat(waiting).noneMatch(Future::isComplete);
    MeshException full = (MeshException) tail.after(2).cause();
    assertThat(full.kind()).isEqualTo(FailureKind.TENANT_LIMIT);
    assertThat(full.code()).isEqualTo("readers_exceeded");

    add(3, 1);

    waiting.forEach(one -> assertThat(one.result().events()).hasSize(1));
    assertThat(tail.after(3).isComplete()).isFalse();
  }

  @Test
  void a_wait_ends_without_an_event_too() {
    ResponseTail.Piece nothing = ResponsesServer.await(tail.after(-1));
    assertThat(nothing.begun()).isFalse();
    add(0, 1);
    ResponseTail.Piece begun = ResponsesServer.await(tail.after(7));
    assertThat(begun.events()).isEmpty();
    assertThat(begun.begun()).isTrue();
    assertThat(begun.over()).isFalse();
  }

  @Test
  void at_the_end_nobody_waits() {
    add(0, 2);
    Future<ResponseTail.Piece> waiting = tail.after(1);
    tail.end(null);
    assertThat(waiting.result().over()).isTrue();
    assertThat(tail.after(0).result().events()).hasSize(1);
    assertThat(tail.after(1).result().over()).isTrue();
  }

  @Test
  void one_that_never_began_fails_as_it_failed() {
    Future<ResponseTail.Piece> waiting = tail.after(-1);
    MeshException failure = MeshException.invalid("No.", null);
    tail.end(failure);
    assertThat(waiting.cause()).isSameAs(failure);
    assertThat(tail.after(5).cause()).isSameAs(failure);
  }

  private void add(int from, int count) {
    tail.add(
        IntStream.range(from, from + count)
            .mapToObj(number -> Json.object().put("sequence_number", number))
            .toList());
  }
}
