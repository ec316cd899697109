package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Event;
import org.junit.jupiter.api.Test;

class NoEventsTest {
  @Test
  void nothing_is_promised_where_nothing_is_kept() {
    NoEvents events = new NoEvents();
    events.publish(BuiltDraft.of(Event.getDefaultInstance()));
    assertThat(events.accept(BuiltDraft.of(Event.getDefaultInstance())).cause())
        .isInstanceOf(MeshException.class)
        .hasMessageContaining("edge.kafka.bootstrap is empty");
    assertThat(events.close().succeeded()).isTrue();
  }
}
