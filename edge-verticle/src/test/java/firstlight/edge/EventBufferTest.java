package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Feedback;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.ResponseFinished;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class EventBufferTest {
  private final List<Event> dropped = new ArrayList<>();

  @Test
  void the_oldest_debug_detail_goes_before_any_event_does() {
    Event full = response(0, 100);
    EventBuffer buffer = new EventBuffer(100, 2L * full.getSerializedSize() + 60);

    IntStream.range(0, 3).forEach(i -> add(buffer, response(i, 100)));

    assertThat(dropped).isEmpty();
    assertThat(buffer.shortened()).isEqualTo(1);
    assertThat(taken(buffer))
        .extracting(event -> event.getResponse().getGenerations(0).getTokenIdsCount())
        .containsExactly(0, 100, 100);
  }

  @Test
  void without_detail_the_oldest_responses_go_and_feedback_stays() {
    EventBuffer buffer = new EventBuffer(3, 1 << 20);
    add(buffer, response(0, 0));
    add(buffer, feedback(1));
    add(buffer, response(2, 0));

    add(buffer, response(3, 0));
    add(buffer, response(4, 0));

    assertThat(dropped).extracting(Event::getId).containsExactly("0", "2");
    assertThat(taken(buffer)).extracting(Event::getId).containsExactly("1", "3", "4");
  }

  @Test
  void what_can_not_get_in_is_itself_dropped() {
    EventBuffer buffer = new EventBuffer(2, 1 << 20);
    add(buffer, feedback(0));
    add(buffer, feedback(1));

    assertThat(add(buffer, response(2, 0))).isFalse();

    assertThat(dropped).extracting(Event::getId).containsExactly("2");
  }

  @Test
  void what_somebody_waits_for_is_taken_first() {
    EventBuffer buffer = new EventBuffer(10, 1 << 20);
    add(buffer, response(0, 0));
    buffer.add(new EventBuffer.Entry(feedback(1), true), dropped::add);

    assertThat(taken(buffer)).extracting(Event::getId).containsExactly("1", "0");
  }

  @Test
  void room_is_given_back_when_it_is_out_and_not_when_it_is_taken() {
    EventBuffer buffer = new EventBuffer(10, 1 << 20);
    add(buffer, response(0, 5));
    EventBuffer.Entry entry = buffer.take();

    assertThat(entry).isNotNull();
    assertThat(buffer.count()).isEqualTo(1);
    buffer.putBack(entry);
    assertThat(buffer.take()).isSameAs(entry);
    buffer.release(entry);
    buffer.release(entry);
    assertThat(buffer.count()).isZero();
    assertThat(buffer.bytes()).isZero();
  }

  @Test
  void what_is_given_up_while_it_waits_is_not_taken_any_more() {
    EventBuffer buffer = new EventBuffer(10, 1 << 20);
    EventBuffer.Entry entry = new EventBuffer.Entry(feedback(0), true);
    buffer.add(entry, dropped::add);

    buffer.release(entry);

    assertThat(buffer.take()).isNull();
    assertThat(buffer.bytes()).isZero();
  }

  private boolean add(EventBuffer buffer, Event event) {
    return buffer.add(new EventBuffer.Entry(event, false), dropped::add);
  }

  private static List<Event> taken(EventBuffer buffer) {
    List<Event> events = new ArrayList<>();
    for (EventBuffer.Entry next = buffer.take(); next != null; next = buffer.take()) {
      events.add(next.event());
    }
    return events;
  }

  static Event response(int id, int tokens) {
    ResponseFinished.Builder response =
        ResponseFinished.newBuilder().setResponseId("resp_" + id).setOutputTokens(tokens);
    Generation.Builder generation = Generation.newBuilder();
    IntStream.range(0, tokens).forEach(i -> generation.addTokenIds(i).addTokenLogprobs(-1));
    response.addGenerations(generation);
    return Event.newBuilder()
        .setId(Integer.toString(id))
        .setSchema(1)
        .setResponse(response)
        .build();
  }

  static Event feedback(int id) {
    return Event.newBuilder()
        .setId(Integer.toString(id))
        .setSchema(1)
        .setFeedback(Feedback.newBuilder().setFeedbackId("fb_" + id).setResponseId("resp_" + id))
        .build();
  }
}
