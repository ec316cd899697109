package firstlight.lake;

import firstlight.protocol.Sha256;
import firstlight.protocol.Time;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types.NestedField;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lake with DuckDB: one consistent snapshot a table, its data files copied to the local
 * disk, a view a table over them. A view has the table's columns, null where an older file has not
 * got one, and one row an Event, whatever was repeated.
 *
 * <p>A question can read nothing but these files, and change no setting. Blocks, and is for one
 * thread at a time.
 */
public final class LakeReader implements AutoCloseable {
  private final FileCache cache;
  private final Connection duck;
  private final List<String> readable = new ArrayList<>();

  private LakeReader(FileCache cache, Connection duck) {
    this.cache = cache;
    this.duck = duck;
  }

  /**
   * Copies what is needed and makes the views.
   *
   * @param folder for copies of data files
   * @param wanted the tables that are read, with the time that is wanted of each; the views of the
   *     others are empty
   * @param output a file that a question may write; empty: none
   * @throws LakeFailure when there is no lake yet, or it can not be read
   */
  public static LakeReader open(
      LakeCatalog catalog,
      Path folder,
      Map<LakeKind, TimeRange> wanted,
      Optional<Path> output,
      Time time,
      FetchProgress progress)
      throws IOException {
    Map<LakeKind, Table> tables;
    try {
      tables = tables(catalog, wanted.keySet());
    } catch (RuntimeException e) {
      throw LakeFailure.of(e, catalog.config());
    }
    LakeReaderConfig limits = catalog.config().reader();
    FileCache cache = FileCache.open(folder, limits.cacheBytes(), time);
    Connection duck;
    try {
      duck = duck(cache, limits);
    } catch (SQLException | RuntimeException e) {
      cache.close();
      throw LakeFailure.of(e, catalog.config());
    }
    LakeReader reader = new LakeReader(cache, duck);
    try {
      reader.fill(tables, wanted, limits, progress);
      reader.lockDown(output);
      return reader;
    } catch (SQLException | IOException | RuntimeException e) {
      reader.close();
      throw LakeFailure.of(e, catalog.config());
    }
  }

  /** Only those that are wanted: each costs a look into the bucket. */
  private static Map<LakeKind, Table> tables(LakeCatalog catalog, Set<LakeKind> wanted) {
    Map<LakeKind, Table> tables = new EnumMap<>(LakeKind.class);
    for (LakeKind kind : wanted) {
      catalog.find(kind).ifPresent(table -> tables.put(kind, table));
    }
    boolean isThere =
        !tables.isEmpty()
            || wanted.isEmpty()
            || Stream.of(LakeKind.values()).anyMatch(kind -> catalog.find(kind).isPresent());
    if (!isThere) {
      throw new LakeFailure(
          "there is no lake yet: no Event has arrived. Serve a request, and ask again when"
              + " feedback.files.ageMax is over.");
    }
    return tables;
  }

  private static Connection duck(FileCache cache, LakeReaderConfig limits) throws SQLException {
    Properties settings = new Properties();
    settings.put("memory_limit", (limits.memoryBytes() >> 20) + "MiB");
    settings.put("threads", Integer.toString(limits.threads()));
    settings.put("temp_directory", cache.workFolder().resolve("spill").toString());
    settings.put("max_temp_directory_size", (limits.spillBytes() >> 20) + "MiB");
    settings.put("autoinstall_known_extensions", "false");
    settings.put("autoload_known_extensions", "false");
    // Rows are handed on as they come, however many there are.
    settings.put("jdbc_stream_results", "true");
    return DriverManager.getConnection("jdbc:duckdb:", settings);
  }

  private void fill(
      Map<LakeKind, Table> tables,
      Map<LakeKind, TimeRange> wanted,
      LakeReaderConfig limits,
      FetchProgress progress)
      throws SQLException, IOException {
    execute("set TimeZone = 'UTC'");
    Map<LakeKind, LakePlan> plans = new EnumMap<>(LakeKind.class);
    wanted.forEach(
        (kind, range) -> {
          if (tables.containsKey(kind)) {
            plans.put(kind, LakePlan.of(tables.get(kind), range));
          }
        });
    List<FileCache.Wanted> files =
        plans.values().stream()
            .flatMap(plan -> plan.files().stream().map(file -> wanted(plan.table(), file)))
            .toList();
    List<String> copies =
        cache.fetch(files, limits.downloads(), progress).stream().map(Path::toString).toList();
    int next = 0;
    for (LakeKind kind : LakeKind.values()) {
      int count = plans.containsKey(kind) ? plans.get(kind).files().size() : 0;
      TimeRange range = wanted.getOrDefault(kind, TimeRange.ALL);
      view(kind, tables.get(kind), copies.subList(next, next + count), range);
      next += count;
    }
  }

  private static FileCache.Wanted wanted(Table table, DataFile file) {
    // Two lakes can have files of the same name, but not a table of the same id.
    String key = Sha256.hex(table.uuid() + " " + file.location()).substring(0, 32);
    return new FileCache.Wanted(
        key,
        file.fileSizeInBytes(),
        () -> table.io().newInputFile(file.location(), file.fileSizeInBytes()).newStream());
  }

  private void view(LakeKind kind, @Nullable Table table, List<String> files, TimeRange range)
      throws SQLException {
    Schema schema = table == null ? LakeSchema.of(kind) : table.schema();
    // A file without rows in front gives the views all columns, whatever the others have.
    String shape = cache.workFolder().resolve(kind.word() + "-shape.parquet").toString();
    execute("create temp table shape(%s)".formatted(DuckColumns.definitions(schema)));
    execute("copy shape to %s (format parquet)".formatted(DuckColumns.literal(shape)));
    execute("drop table shape");
    List<String> all = Stream.concat(Stream.of(shape), files.stream()).toList();
    readable.addAll(all);
    String rows =
        "from read_parquet([%s], union_by_name = true) where %s"
            .formatted(
                all.stream().map(DuckColumns::literal).collect(Collectors.joining(", ")),
                range.condition());
    String once =
        isRepeating(rows)
            ? " qualify row_number() over (partition by %s order by %s, %s) = 1"
                .formatted(LakeSchema.EVENT_ID, LakeSchema.PARTITION, LakeSchema.OFFSET)
            : "";
    execute(
        "create view %s as select %s %s%s"
            .formatted(
                DuckColumns.quoted(kind.table()),
                DuckColumns.select(schema, names(schema)),
                rows,
                once));
  }

  private static Set<String> names(Schema schema) {
    return schema.columns().stream().map(NestedField::name).collect(Collectors.toSet());
  }

  /** Looked up once, so that no question pays for repeats that are not there. */
  private boolean isRepeating(String rows) throws SQLException {
    try (Statement statement = duck.createStatement();
        ResultSet counts =
            statement.executeQuery(
                """
                select (select count(*) %1$s),
                  (select count(*) from (select distinct hash(%2$s) %1$s))
                """
                    .formatted(rows, LakeSchema.EVENT_ID))) {
      counts.next();
      return counts.getLong(1) != counts.getLong(2);
    }
  }

  private void lockDown(Optional<Path> output) throws SQLException {
    output.ifPresent(path -> readable.add(path.toAbsolutePath().normalize().toString()));
    execute(
        "set allowed_paths = [%s]"
            .formatted(
                readable.stream().map(DuckColumns::literal).collect(Collectors.joining(", "))));
    execute("set enable_external_access = false");
    execute("set lock_configuration = true");
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = duck.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Where questions are asked. It is closed with the reader. */
  public Connection connection() {
    return duck;
  }

  /** Another one on the same views, for a question while rows of the first are still read. */
  Connection another() throws SQLException {
    return ((DuckDBConnection) duck).duplicate();
  }

  /** What DuckDB says, in one line and without the place in the text. */
  public static LakeFailure failure(Exception failure) {
    if (failure instanceof LakeFailure known) {
      return known;
    }
    String message = String.valueOf(failure.getMessage());
    String first =
        message
            .lines()
            .takeWhile(line -> !line.startsWith("LINE ") && !line.startsWith("Stack Trace"))
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .collect(Collectors.joining(" "));
    return new LakeFailure(first.isEmpty() ? failure.getClass().getSimpleName() : first, failure);
  }

  @Override
  public void close() {
    try {
      duck.close();
    } catch (SQLException _) {
      // It was in memory: nothing is lost.
    }
    cache.close();
  }
}
