package firstlight.lake;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.Table;

/**
 * Tells files of the sink whose commit may still come: by their name, which says where on Kafka
 * they begin, and by the offsets of the table.
 *
 * @param offsets of the newest snapshot
 */
record SinkFiles(LakeOffsets offsets) {
  private static final Pattern NAME =
      Pattern.compile("-(\\d{1,9})-(\\d{20})(-[0-9a-f]+)?\\.parquet$");

  /** As of the table's last refresh. */
  static SinkFiles of(Table table) {
    return new SinkFiles(LakeOffsets.of(table.currentSnapshot()));
  }

  /** Whether the Events of a file are not in the table yet, for all that its name says. */
  boolean mayCome(String location) {
    Matcher name = NAME.matcher(location);
    if (!name.find()) {
      return false;
    }
    String partition = "/" + name.group(1);
    long first = Long.parseLong(name.group(2));
    // The name has the topic's name, the offsets have its id: so it is held against all topics.
    return offsets.batches().entrySet().stream()
            .filter(each -> each.getKey().endsWith(partition))
            .map(Map.Entry::getValue)
            .mapToLong(LakeOffsets.Batch::next)
            .min()
            .orElse(0)
        <= first;
  }
}
