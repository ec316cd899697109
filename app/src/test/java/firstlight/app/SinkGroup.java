package firstlight.app;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;

/** The sinks as Kafka sees them. */
final class SinkGroup implements AutoCloseable {
  private static final String NAME = "firstlight.feedback";

  private final Admin admin;

  SinkGroup(String bootstrap) {
    admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap));
  }

  /** How many instances share the work. */
  int members() throws Exception {
    return admin
        .describeConsumerGroups(List.of(NAME))
        .describedGroups()
        .get(NAME)
        .get()
        .members()
        .size();
  }

  /** Kafka need not wait for those that were killed: it would, for as long as their session. */
  void forgetDead() throws Exception {
    if (members() > 0) {
      admin
          .removeMembersFromConsumerGroup(NAME, new RemoveMembersFromConsumerGroupOptions())
          .all()
          .get();
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
