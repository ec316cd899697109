package firstlight.lake;

import firstlight.protocol.Settings;
import java.time.Duration;

/** Where the lake is: its catalog and its objects. The section {@code lake} of the settings. */
public record LakeConfig(Catalog catalog, S3 s3) {

  /**
   * The Iceberg catalog.
   *
   * @param jdbc address of its PostgreSQL database
   * @param namespace in which its tables are
   * @param timeout how long the database may take to answer
   */
  public record Catalog(
      String jdbc, String user, String password, String namespace, Duration timeout) {
    @Override
    public String toString() {
      return "Catalog[%s %s]".formatted(jdbc, namespace);
    }
  }

  /**
   * The bucket.
   *
   * @param endpoint an address such as http://127.0.0.1:9000; empty: that of AWS for the region
   * @param prefix in front of every object's name; ends with / or is empty
   * @param accessKey empty: from where the AWS SDK finds one
   * @param create whether a missing bucket is created
   */
  public record S3(
      String endpoint,
      String region,
      String bucket,
      String prefix,
      String accessKey,
      String secretKey,
      boolean create) {
    @Override
    public String toString() {
      return "S3[%s %s %s/%s]".formatted(endpoint, region, bucket, prefix);
    }

    /** The address of an object, e.g. {@code s3://bucket/prefix/name}. */
    public String uri(String name) {
      return "s3://%s/%s%s".formatted(bucket, prefix, name);
    }
  }

  /** Reads the section; mistakes are noted in its problems. */
  public static LakeConfig read(Settings settings) {
    LakeConfig config =
        new LakeConfig(catalog(settings.section("catalog")), s3(settings.section("s3")));
    settings.done();
    return config;
  }

  private static Catalog catalog(Settings settings) {
    Catalog catalog =
        new Catalog(
            settings.text("jdbc", "jdbc:postgresql://127.0.0.1:5432/firstlight"),
            settings.text("user", "firstlight"),
            settings.secret("password", ""),
            settings.text("namespace", "lake"),
            settings.duration("timeout", Duration.ofSeconds(10)));
    settings
        .problems()
        .require(
            catalog.jdbc.startsWith("jdbc:postgresql:"),
            "lake.catalog.jdbc must begin with jdbc:postgresql:");
    settings
        .problems()
        .require(
            catalog.namespace.matches("[a-z][a-z0-9_]{0,62}"),
            "lake.catalog.namespace must be a lower-case word");
    settings
        .problems()
        .require(
            catalog.timeout.toSeconds() >= 1, "lake.catalog.timeout must be at least one second");
    settings.done();
    return catalog;
  }

  private static S3 s3(Settings settings) {
    S3 s3 =
        new S3(
            settings.text("endpoint", "http://127.0.0.1:9000"),
            settings.text("region", "us-east-1"),
            settings.text("bucket", "firstlight"),
            settings.text("prefix", "events/"),
            settings.text("accessKey", ""),
            settings.secret("secretKey", ""),
            settings.flag("create", true));
    settings
        .problems()
        .require(
            s3.prefix.isEmpty() || (s3.prefix.endsWith("/") && !s3.prefix.startsWith("/")),
            "lake.s3.prefix must end with / and not start with it");
    settings
        .problems()
        .require(
            s3.accessKey.isEmpty() == s3.secretKey.isEmpty(),
            "lake.s3.accessKey and lake.s3.secretKey belong together");
    settings.done();
    return s3;
  }
}
