package firstlight.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Right answers that are handed to all tests from outside the project. */
final class References {
  private References() {}

  /** A file there; where it is missing the test that asks is skipped. */
  static Path path(String name) {
    String shared = System.getProperty("firstlight.shared", "../../shared");
    Path path = Path.of(shared, "reference", name);
    Assumptions.assumeTrue(Files.exists(path), () -> "skipped: there is no " + path);
    return path;
  }

  static Tokenizer vocabulary(String name) {
    return tokenizer(path("vocab/ggml-vocab-" + name + ".gguf"));
  }

  static Tokenizer tokenizer(Path path) {
    try (ModelFile file = ModelFile.open(path)) {
      return Tokenizers.of(file);
    }
  }

  /** A text and the ids it must give. */
  record Vector(String text, List<Integer> ids) {}

  static List<Vector> vectors(String name) {
    try {
      Path texts = path("vocab/ggml-vocab-" + name + ".gguf.inp");
      Path ids = path("vocab/ggml-vocab-" + name + ".gguf.out");
      String[] inputs = Files.readString(texts).split("\n__ggml_vocab_test__\n", -1);
      List<String> outputs = Files.readAllLines(ids);
      List<Vector> vectors = new ArrayList<>();
      for (int i = 0; i < outputs.size(); i++) {
        List<Integer> expected =
            Stream.of(outputs.get(i).split(" "))
                .filter(word -> !word.isEmpty())
                .map(Integer::valueOf)
                .toList();
        vectors.add(new Vector(inputs[i], expected));
      }
      return vectors;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode json(String name) {
    try {
      return new ObjectMapper().readTree(path(name).toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static int[] ids(JsonNode array) {
    return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
  }
}
