package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.ResponseFinished;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventPartsTest {
  @Test
  void every_kind_of_event_comes_together_as_it_was() throws Exception {
    for (Event event :
        List.of(
            SampleEvents.response(1, 20),
            SampleEvents.response(2, 0),
            SampleEvents.feedback(3),
            SampleEvents.toolCall(4, "{\"a\":1}"),
            SampleEvents.toolCall(5, ""),
            SampleEvents.failure(6),
            Event.getDefaultInstance())) {
      assertThat(EventParts.of(event).join(false, false)).isEqualTo(event);
    }
  }

  @Test
  void what_is_gone_is_said_and_the_numbers_stay() throws Exception {
    EventParts parts = EventParts.of(SampleEvents.response(1, 20));

    ResponseFinished withoutTrace = parts.withoutTrace().join(false, true).getResponse();
    ResponseFinished without = parts.withoutTrace().withoutText().join(true, true).getResponse();

    assertThat(withoutTrace.getShortened()).isEqualTo("detail");
    assertThat(withoutTrace.getOutput()).isEqualTo("out 1");
    assertThat(withoutTrace.getGenerations(0).getTokenIdsCount()).isZero();
    assertThat(withoutTrace.getGenerations(0).getOutputTokens()).isEqualTo(20);
    assertThat(without.getShortened()).isEqualTo("text");
    assertThat(without.getInput() + without.getOutput()).isEmpty();
    assertThat(without.getOutputTokens()).isEqualTo(20);
  }

  @Test
  void what_was_cut_before_is_still_said_to_be_cut() throws Exception {
    Event event = SampleEvents.response(1, 20);
    Event cut =
        event.toBuilder().setResponse(event.getResponse().toBuilder().setShortened("text")).build();

    assertThat(EventParts.of(cut).withoutTrace().join(false, true).getResponse().getShortened())
        .isEqualTo("text");
  }
}
