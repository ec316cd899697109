package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.InputMessage;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class EventRecordsTest {
  @Test
  void an_event_that_fits_stays_as_it_is() {
    Event event = SampleEvents.response(1, 10);

    assertThat(EventRecords.fit(event, event.getSerializedSize()).event()).isSameAs(event);
  }

  @Test
  void an_event_with_too_much_detail_loses_the_detail_only() {
    Event event = SampleEvents.response(1, 10_000);

    EventRecords.Fitted fitted = EventRecords.fit(event, 1000);

    assertThat(fitted.cut()).isEqualTo(EventRecords.Cut.DETAIL);
    assertThat(fitted.event().getResponse().getGenerations(0).getTokenIdsCount()).isZero();
    assertThat(fitted.event().getResponse().getOutputTokens()).isEqualTo(10_000);
  }

  @Test
  void long_texts_are_cut_input_first_and_never_inside_a_character() {
    Event event = text("é".repeat(1000), "ü".repeat(500));

    Event small = EventRecords.fit(event, 1500).event();
    Event smaller = EventRecords.fit(event, 701).event();

    assertThat(small.getSerializedSize()).isBetween(1400, 1500);
    assertThat(small.getResponse().getOutput()).hasSize(500);
    assertThat(small.getResponse().getInputMessages(0).getText()).matches("é+");
    assertThat(smaller.getSerializedSize()).isBetween(600, 701);
    assertThat(smaller.getResponse().getInputMessages(0).getText()).isEmpty();
    assertThat(smaller.getResponse().getOutput()).matches("ü+");
  }

  @Test
  void the_session_is_the_key() {
    Event event = SampleEvents.response(7, 0).toBuilder().setSession("s").build();

    assertThat(key(event)).isEqualTo("s");
    assertThat(key(SampleEvents.toolCall(9, ""))).isEqualTo("resp_9");
  }

  @Test
  void what_was_cut_is_said() {
    Event event = text("a".repeat(1000), "b".repeat(500));

    assertThat(EventRecords.fit(event, 1200).event().getResponse().getShortened())
        .isEqualTo("text");
    assertThat(
            EventRecords.fit(SampleEvents.response(1, 10_000), 1000)
                .event()
                .getResponse()
                .getShortened())
        .isEqualTo("detail");
  }

  @Test
  void long_arguments_of_a_tool_call_are_cut_and_no_longer_valid() {
    Event event = SampleEvents.toolCall(1, "{" + "a".repeat(1000));

    EventRecords.Fitted fitted = EventRecords.fit(event, 500);

    assertThat(fitted.cut()).isEqualTo(EventRecords.Cut.TEXT);
    assertThat(fitted.event().getSerializedSize()).isBetween(400, 500);
    assertThat(fitted.event().getToolCall().getArgumentsValid()).isFalse();
  }

  private static String key(Event event) {
    return new String(EventRecords.key(event), StandardCharsets.UTF_8);
  }

  private static Event text(String input, String output) {
    Event event = SampleEvents.response(1, 0);
    return event.toBuilder()
        .setResponse(
            event.getResponse().toBuilder()
                .addInputMessages(InputMessage.newBuilder().setText(input))
                .setOutput(output))
        .build();
  }
}
