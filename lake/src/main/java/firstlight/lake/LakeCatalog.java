package firstlight.lake;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.UpdateSchema;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.aws.s3.S3FileIOProperties;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.jdbc.JdbcClientPool;
import org.apache.iceberg.jdbc.UncheckedSQLException;
import org.apache.iceberg.types.TypeUtil;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The lake's Iceberg tables: their catalog in PostgreSQL, their metadata in the bucket beside the
 * files. Blocks: for worker threads only. Whatever fails, because the database or the bucket is
 * away, say, is a RuntimeException of Iceberg, of JDBC or of the AWS SDK.
 */
public final class LakeCatalog implements AutoCloseable {
  /** Its name in the database, and the one that other engines must give it. */
  public static final String NAME = "firstlight";

  /** Of one catalog: one to commit with, one to look. */
  private static final int CONNECTIONS = 2;

  private static final int EVOLVE_ATTEMPTS = 10;

  private final LakeConfig config;
  private final S3Client client;
  private final S3FileIO io;
  private final JdbcCatalog catalog;
  private final Map<LakeKind, Table> tables = new EnumMap<>(LakeKind.class);

  private LakeCatalog(LakeConfig config) {
    this.config = config;
    client = LakeS3.client(config.s3());
    S3Client ours = client;
    io = new S3FileIO(() -> ours);
    catalog = new SettledCatalog(io);
  }

  /** Connects, and makes the catalog's own tables in the database when they are not there. */
  public static LakeCatalog open(LakeConfig config) {
    try {
      return connected(config);
    } catch (UncheckedSQLException e) {
      // Two that make the same tables at once: one of them fails, and finds them the next time.
      return connected(config);
    }
  }

  private static LakeCatalog connected(LakeConfig config) {
    LakeCatalog opened = new LakeCatalog(config);
    try {
      opened.connect();
      return opened;
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private void connect() {
    Map<String, String> properties = properties(config);
    io.initialize(properties);
    catalog.initialize(NAME, properties);
  }

  private static Map<String, String> properties(LakeConfig config) {
    String seconds = Long.toString(config.catalog().timeout().toSeconds());
    String warehouse = config.s3().uri("");
    Map<String, String> properties = new HashMap<>();
    properties.put(CatalogProperties.URI, config.catalog().jdbc());
    properties.put(
        CatalogProperties.WAREHOUSE_LOCATION,
        warehouse.endsWith("/") ? warehouse.substring(0, warehouse.length() - 1) : warehouse);
    properties.put(S3FileIOProperties.CLIENT_FACTORY, LakeS3.NoFactory.class.getName());
    properties.put("jdbc.schema-version", "V1");
    properties.put("jdbc.user", config.catalog().user());
    properties.put("jdbc.password", config.catalog().password());
    properties.put("jdbc.connectTimeout", seconds);
    properties.put("jdbc.loginTimeout", seconds);
    properties.put("jdbc.socketTimeout", seconds);
    return properties;
  }

  public LakeConfig config() {
    return config;
  }

  /**
   * The table of a kind, with all columns that this version writes: it is made, or gets them, when
   * that was not done yet. The same object every time; what it shows is as old as its last {@code
   * refresh()}.
   */
  public synchronized Table table(LakeKind kind) {
    Table table = tables.get(kind);
    if (table == null) {
      table = loadOrCreate(kind);
      evolve(table, LakeSchema.of(kind));
      tables.put(kind, table);
    }
    return table;
  }

  /** The table of a kind as it is now; changes nothing. */
  public Optional<Table> find(LakeKind kind) {
    try {
      return Optional.of(catalog.loadTable(identifier(kind)));
    } catch (NoSuchTableException e) {
      return Optional.empty();
    }
  }

  private TableIdentifier identifier(LakeKind kind) {
    return TableIdentifier.of(config.catalog().namespace(), kind.table());
  }

  private Table loadOrCreate(LakeKind kind) {
    return find(kind).orElseGet(() -> create(kind));
  }

  private Table create(LakeKind kind) {
    Schema schema = LakeSchema.of(kind);
    try {
      createNamespace();
      return catalog
          .buildTable(identifier(kind), schema)
          .withPartitionSpec(PartitionSpec.builderFor(schema).day(LakeSchema.TIME).build())
          .withProperties(tableProperties())
          .create();
    } catch (AlreadyExistsException e) {
      return catalog.loadTable(identifier(kind));
    }
  }

  private void createNamespace() {
    Namespace namespace = Namespace.of(config.catalog().namespace());
    if (catalog.namespaceExists(namespace)) {
      return;
    }
    try {
      catalog.createNamespace(namespace, Map.of());
    } catch (RuntimeException e) {
      // Somebody who is faster shows in more than one way.
      if (!catalog.namespaceExists(namespace)) {
        throw e;
      }
    }
  }

  private static Map<String, String> tableProperties() {
    return Map.of(
        TableProperties.FORMAT_VERSION,
        "2",
        // Who commits must look again at the offsets first: see LakeCommits.
        TableProperties.COMMIT_NUM_RETRIES,
        "0",
        TableProperties.PARQUET_COMPRESSION,
        "zstd",
        TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED,
        "true",
        TableProperties.METADATA_PREVIOUS_VERSIONS_MAX,
        "50");
  }

  /** Adds the columns that are missing. Those that this version does not know stay. */
  static void evolve(Table table, Schema wanted) {
    for (int attempt = 1; ; attempt++) {
      UpdateSchema update = table.updateSchema().unionByNameWith(wanted);
      unknown(table.schema(), wanted).forEach(update::makeColumnOptional);
      if (update.apply().sameSchema(table.schema())) {
        return;
      }
      try {
        update.commit();
        return;
      } catch (CommitFailedException e) {
        if (attempt == EVOLVE_ATTEMPTS) {
          throw e;
        }
        table.refresh();
      }
    }
  }

  /** Columns of a newer version that this one can not fill. */
  private static List<String> unknown(Schema schema, Schema wanted) {
    return TypeUtil.indexByName(schema.asStruct()).entrySet().stream()
        .filter(each -> wanted.findField(each.getKey()) == null)
        .filter(each -> schema.findField(each.getValue()).isRequired())
        .map(Map.Entry::getKey)
        .filter(name -> !name.contains(".") || wanted.findField(parent(name)) != null)
        .toList();
  }

  private static String parent(String name) {
    return name.substring(0, name.lastIndexOf('.'));
  }

  @Override
  public void close() {
    catalog.close();
    io.close();
    client.close();
  }

  /** Its tables know whether a commit that seems to have failed has not (see the other class). */
  private static final class SettledCatalog extends JdbcCatalog {
    SettledCatalog(S3FileIO io) {
      super(
          _ -> io,
          properties ->
              new JdbcClientPool(CONNECTIONS, properties.get(CatalogProperties.URI), properties),
          true);
    }

    @Override
    protected TableOperations newTableOps(TableIdentifier identifier) {
      return new SettledOperations(super.newTableOps(identifier));
    }
  }
}
