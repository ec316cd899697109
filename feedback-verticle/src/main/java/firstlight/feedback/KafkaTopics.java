package firstlight.feedback;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes sure that the topics are there. Blocks: for worker threads only. */
final class KafkaTopics {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private KafkaTopics() {}

  /**
   * @return Kafka's own id of the topic of Events
   * @throws IOException when Kafka or a topic is not there
   */
  static String prepare(FeedbackConfig.Kafka config) throws IOException {
    String limit = Long.toString(LIMIT.toMillis());
    Map<String, Object> settings =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, config.bootstrap(),
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, limit,
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, limit);
    try (Admin admin = Admin.create(settings)) {
      String dead = topicId(admin, config, config.deadTopic(), 1);
      String events = topicId(admin, config, config.topic(), config.partitions());
      LOG.debug("topic of events {}, of dead letters {}", events, dead);
      return events;
    } catch (KafkaException e) {
      throw new IOException("Kafka: " + e.getMessage(), e);
    }
  }

  private static String topicId(
      Admin admin, FeedbackConfig.Kafka config, String name, int partitions) throws IOException {
    if (config.create()) {
      NewTopic topic =
          new NewTopic(name, Optional.of(partitions), Optional.of((short) config.replicas()));
      try {
        return got(admin.createTopics(List.of(topic)).topicId(name)).toString();
      } catch (IOException e) {
        if (!(e.getCause() instanceof TopicExistsException)) {
          throw e;
        }
      }
    }
    return got(admin.describeTopics(List.of(name)).allTopicNames()).get(name).topicId().toString();
  }

  private static <T> T got(KafkaFuture<T> future) throws IOException {
    try {
      return future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException("Kafka: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("Kafka does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
