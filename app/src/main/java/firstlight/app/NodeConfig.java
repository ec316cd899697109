package firstlight.app;

import firstlight.batcher.BatcherConfig;
import firstlight.edge.EdgeConfig;
import firstlight.feedback.FeedbackConfig;
import firstlight.gpu.GpuConfig;
import firstlight.lake.LakeConfig;
import firstlight.protocol.NodeId;
import firstlight.protocol.Settings;
import firstlight.session.SessionConfig;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The whole configuration of a node, checked.
 *
 * @param name unique in the mesh
 * @param roles what the node does
 * @param instances verticle instances of each role
 * @param data folder of the embedded services
 * @param embedded whether the node brings its own PostgreSQL, Redis, Kafka and object store, as far
 *     as its roles need them
 */
record NodeConfig(
    NodeId name,
    Set<Role> roles,
    Map<Role, Integer> instances,
    Path data,
    boolean embedded,
    Cluster cluster,
    List<ModelEntry> models,
    EdgeConfig edge,
    SessionConfig session,
    BatcherConfig batcher,
    GpuConfig gpu,
    LakeConfig lake,
    FeedbackConfig feedback) {
  private static final int INSTANCES_MAX = 64;

  /**
   * @param enabled whether the node joins a mesh
   * @param host the address at which the other nodes reach this one's event bus
   * @param file Hazelcast's configuration
   */
  record Cluster(boolean enabled, String host, Path file) {}

  /** Reads everything; mistakes are noted in the settings' problems. */
  static NodeConfig read(Settings root, NodeId fallbackName) {
    Settings node = root.section("node");
    Set<Role> roles = roles(node);
    NodeConfig config =
        new NodeConfig(
            name(node, fallbackName),
            roles,
            instances(node.section("instances")),
            Path.of(node.text("data", "data")),
            node.flag("embedded", false),
            cluster(root.section("cluster"), roles),
            ModelEntry.readAll(root),
            EdgeConfig.read(root.section("edge")),
            SessionConfig.from(root.section("session")),
            BatcherConfig.from(root.section("batcher")),
            GpuConfig.read(root.section("gpu")),
            LakeConfig.read(root.section("lake")),
            FeedbackConfig.read(root.section("feedback")));
    node.done();
    root.done();
    return config;
  }

  private static NodeId name(Settings node, NodeId fallback) {
    String name = node.text("name", fallback.value());
    try {
      return new NodeId(name);
    } catch (IllegalArgumentException e) {
      node.problems().add("node.name: " + e.getMessage());
      return fallback;
    }
  }

  private static Set<Role> roles(Settings node) {
    Set<Role> roles = EnumSet.noneOf(Role.class);
    for (String word : node.texts("roles", List.of())) {
      try {
        roles.add(Role.of(word));
      } catch (StartFailure e) {
        node.problems().add("node.roles: " + e.getMessage());
      }
    }
    return roles.isEmpty() ? EnumSet.allOf(Role.class) : roles;
  }

  private static Map<Role, Integer> instances(Settings section) {
    Map<Role, Integer> instances = new EnumMap<>(Role.class);
    for (Role role : Role.values()) {
      instances.put(role, section.integer(role.word(), 1, 1, INSTANCES_MAX));
    }
    section.done();
    return instances;
  }

  private static Cluster cluster(Settings section, Set<Role> roles) {
    Cluster cluster =
        new Cluster(
            section.flag("enabled", false) || roles.size() < Role.values().length,
            section.text("host", "127.0.0.1"),
            Path.of(section.text("file", "cluster.xml")));
    section.done();
    return cluster;
  }

  boolean has(Role role) {
    return roles.contains(role);
  }
}
