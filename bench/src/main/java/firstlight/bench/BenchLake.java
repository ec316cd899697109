package firstlight.bench;

import firstlight.lake.FetchProgress;
import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeConfig;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeReader;
import firstlight.lake.LakeStatus;
import firstlight.lake.LakeUpkeep;
import firstlight.lake.TimeRange;
import firstlight.lake.UpkeepReport;
import firstlight.protocol.IdSource;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A lake of its own beside others on the same services, for one measurement.
 *
 * @param name also of its namespace, of the folder in the bucket, and of the sink's group
 * @param rowsMax Events of a batch: what there is on a partition is a multiple, so that no batch
 *     waits for its age
 * @param more settings of whoever measures
 */
record BenchLake(
    EventServices services,
    String topic,
    String name,
    int rowsMax,
    Map<String, String> more,
    Path folder) {
  /** Of the data files in the tables. */
  record Size(int files, long bytes, long rows) {}

  /** Settings of the sink that fills it, as YAML. */
  String yaml() {
    return new SettingsTree()
        .putAll(services.settings())
        .put("lake.catalog.namespace", name)
        .put("lake.s3.prefix", name + "/")
        .put("lake.upkeep.enabled", false)
        .put("lake.upkeep.folder", folder.resolve("upkeep").toString())
        .put("feedback.spool", folder.resolve("spool").toString())
        .put("feedback.kafka.group", name)
        .put("feedback.kafka.topic", topic)
        .put("feedback.kafka.deadTopic", topic + ".dead")
        .put("feedback.kafka.partitions", EventServices.PARTITIONS)
        .put("feedback.files.rowsMax", rowsMax)
        .put("feedback.files.bytesMax", "1GiB")
        .putAll(more)
        .yaml();
  }

  private LakeConfig config() {
    Settings settings = Settings.parse(yaml(), System::getenv);
    LakeConfig config = LakeConfig.read(settings.section("lake"));
    settings.problems().throwIfAny();
    return config;
  }

  Size size() {
    try (LakeCatalog catalog = LakeCatalog.open(config())) {
      List<LakeStatus> tables = LakeStatus.of(catalog);
      return new Size(
          tables.stream().mapToInt(LakeStatus::files).sum(),
          tables.stream().mapToLong(LakeStatus::bytes).sum(),
          tables.stream().mapToLong(LakeStatus::rows).sum());
    }
  }

  /**
   * Merges files until there is nothing to merge.
   *
   * @throws BenchFailure a step has failed
   */
  void compact(Time time) {
    LakeUpkeep upkeep =
        new LakeUpkeep(config(), time, new IdSource(new SecureRandom()), new SimpleMeterRegistry());
    try {
      boolean more = true;
      while (more) {
        Optional<UpkeepReport> report = upkeep.run();
        if (report.isEmpty() || report.get().failures() > 0) {
          throw new BenchFailure("the lake was not put in order: " + report);
        }
        more = report.get().merging().filesBefore() > 0;
      }
    } catch (IOException | SQLException e) {
      throw new BenchFailure("the lake was not put in order: " + e.getMessage(), e);
    }
  }

  /** What the tables hold, read with DuckDB, where it is something else than was produced. */
  List<String> differences(EventProducer.Produced produced, Time time) {
    try (LakeCatalog catalog = LakeCatalog.open(config());
        LakeReader reader =
            LakeReader.open(
                catalog,
                folder.resolve("cache"),
                ranges(),
                Optional.empty(),
                time,
                FetchProgress.NONE)) {
      List<String> differences = new ArrayList<>();
      Connection duck = reader.connection();
      produced
          .counts()
          .forEach(
              (body, count) ->
                  compare(duck, "select count(*) from " + table(body), count, differences));
      compare(
          duck, "select sum(prompt_tokens) from responses", produced.promptTokens(), differences);
      compare(
          duck, "select sum(output_tokens) from responses", produced.outputTokens(), differences);
      compare(
          duck,
          "select sum(len(generations[1].token_ids)) from responses",
          produced.tokenIds(),
          differences);
      return differences;
    } catch (IOException e) {
      throw new BenchFailure("the lake can not be read: " + e.getMessage(), e);
    }
  }

  private static Map<LakeKind, TimeRange> ranges() {
    Map<LakeKind, TimeRange> all = new EnumMap<>(LakeKind.class);
    for (LakeKind kind : LakeKind.values()) {
      all.put(kind, TimeRange.ALL);
    }
    return all;
  }

  private static String table(Event.BodyCase body) {
    return switch (body) {
      case RESPONSE -> LakeKind.RESPONSE.table();
      case FEEDBACK -> LakeKind.FEEDBACK.table();
      case TOOL_CALL -> LakeKind.TOOL_CALL.table();
      case ERROR -> LakeKind.ERROR.table();
      case REFUSAL -> LakeKind.REFUSAL.table();
      case BODY_NOT_SET -> throw new IllegalArgumentException("no such table");
    };
  }

  private static void compare(Connection duck, String sql, long wanted, List<String> differences) {
    try (Statement statement = duck.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      if (rows.getLong(1) != wanted) {
        differences.add("%s: %d instead of %d".formatted(sql, rows.getLong(1), wanted));
      }
    } catch (SQLException e) {
      throw new BenchFailure(sql + ": " + e.getMessage(), e);
    }
  }
}
