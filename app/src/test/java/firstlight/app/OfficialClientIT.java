package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The official Python client of OpenAI, unchanged, against the jar. */
class OfficialClientIT {
  private static final String CLIENT = "openai[realtime]==3.57.0";

  /** Made once, and kept between runs. */
  private static Path python() throws Exception {
    Path folder = Sources.root().resolve("app/target/openai-client");
    Path python = folder.resolve("bin/python");
    if (!Files.exists(folder.resolve("complete"))) {
      assumeTrue(run("python3", "-m", "venv", folder.toString()).ok(), "python3 has no venv");
      Result installed = run(python.toString(), "-m", "pip", "install", "--quiet", CLIENT);
      assumeTrue(installed.ok(), "pip can not install " + CLIENT + ": " + installed.output());
      Files.createFile(folder.resolve("complete"));
    }
    return python;
  }

  private record Result(boolean ok, String output) {}

  private static Result run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(2, TimeUnit.MINUTES) && process.exitValue() == 0, output);
  }

  @Test
  void it_streams_a_chat_a_completion_and_responses_over_both_transports() throws Exception {
    Path python = python();
    String data = FirstlightProcess.freshFolder("official-client").toString();
    try (FirstlightProcess process = FirstlightProcess.start("up", "--port", "0", "--data", data)) {
      Result result =
          run(
              python.toString(),
              Sources.root().resolve("app/src/test/python/clients.py").toString(),
              process.address().toString(),
              "no-key-needed",
              "smollm2-135m");
      assertThat(result.ok()).as(result.output()).isTrue();
      assertThat(result.output()).contains("4 passed, 0 failed");
    }
  }
}
