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
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The whole configuration of a node, checked.
 *
 * @param name unique in the mesh
 * @param roles what the node does
 * @param instances how many verticles of each role
 * @param data folder of the embedded services
 * @param embedded whether the node brings its own PostgreSQL, Redis, Kafka and object store, as far
 *     as its roles need them
 */
record NodeConfig(
    NodeId name,
    Set<Role> roles,
    Instances instances,
    Path data,
    boolean embedded,
    Duration drain,
    Cluster cluster,
    List<ModelEntry> models,
    EdgeConfig edge,
    SessionConfig session,
    BatcherConfig batcher,
    GpuConfig gpu,
    LakeConfig lake,
    FeedbackConfig feedback) {
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
            Instances.read(node.section("instances")),
            Path.of(node.text("data", "data")),
            node.flag("embedded", false),
            node.duration("drain", Duration.ZERO),
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

  private static Cluster cluster(Settings section, Set<Role> roles) {
    Cluster cluster =
        new Cluster(
            section.flag("enabled", false) || roles.size() < Role.values().length,
            section.text("host", "127.0.0.1"),
            Path.of(section.text("file", "cluster.xml")));
    section.done();
    return cluster;
  }

  /** How many verticles of a role there are on a node that deals out so many devices. */
  int instances(Role role, int devices) {
    return instances.of(role, roles, devices);
  }

  /**
   * Replicas of one process that listened on the same port would be taken for each other.
   *
   * @param devices that are dealt out on the node
   * @throws StartFailure there would be some
   */
  void requirePorts(int devices) {
    int replicas = has(Role.BATCHER) ? instances(Role.BATCHER, devices) * models.size() : 0;
    if (batcher.port() != 0 && replicas > 1) {
      throw new StartFailure(
          "batcher.port is %d, but each of %d replicas needs a port of its own: leave it at 0"
              .formatted(batcher.port(), replicas));
    }
  }

  boolean has(Role role) {
    return roles.contains(role);
  }
}
