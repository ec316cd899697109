package firstlight.lake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.Snapshot;
import org.jspecify.annotations.Nullable;

/**
 * Which records of Kafka a snapshot of a table holds. It stands in the snapshot's summary as JSON:
 * {@code {"<id of the topic>/<partition>": {"first": 100, "next": 200}, …}}.
 *
 * @param batches the last batch of each partition that had rows for this table; all before it are
 *     there, too
 */
public record LakeOffsets(Map<String, Batch> batches) {
  /** Its name in the summary. */
  public static final String PROPERTY = "firstlight.offsets";

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * A batch of a partition.
   *
   * @param first its first offset
   * @param next the first offset after it
   */
  public record Batch(long first, long next) {}

  /** Those of a snapshot; none where it is null or says nothing. */
  public static LakeOffsets of(@Nullable Snapshot snapshot) {
    String json = snapshot == null ? null : snapshot.summary().get(PROPERTY);
    return json == null ? new LakeOffsets(Map.of()) : parse(json);
  }

  private static LakeOffsets parse(String json) {
    try {
      return new LakeOffsets(JSON.readValue(json, new TypeReference<Map<String, Batch>>() {}));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a snapshot's offsets can not be read: " + json, e);
    }
  }

  /** The last batch of a partition; null when there was none. */
  public @Nullable Batch last(String topicId, int partition) {
    return batches.get(key(topicId, partition));
  }

  LakeOffsets with(String topicId, int partition, Batch batch) {
    Map<String, Batch> all = new TreeMap<>(batches);
    all.put(key(topicId, partition), batch);
    return new LakeOffsets(all);
  }

  String json() {
    try {
      return JSON.writeValueAsString(new TreeMap<>(batches));
    } catch (JsonProcessingException e) {
      throw new AssertionError("numbers and words can be written", e);
    }
  }

  private static String key(String topicId, int partition) {
    return topicId + "/" + partition;
  }
}
