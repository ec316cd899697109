package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.lake.FileCache.Wanted;
import firstlight.protocol.Time;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileCacheTest {
  private static final long BYTES_MAX = 1000;

  @TempDir private Path folder;
  private final List<String> fetched = new ArrayList<>();
  private final TestTime time = new TestTime();

  /** A clock that a test sets. */
  private static final class TestTime implements Time {
    private long millis = 1_795_953_600_000L;

    @Override
    public synchronized long epochMillis() {
      return millis;
    }

    @Override
    public long nanos() {
      return 0;
    }

    synchronized void pass() {
      millis += 1000;
    }
  }

  private FileCache open() throws IOException {
    time.pass();
    return FileCache.open(folder, BYTES_MAX, time);
  }

  private Wanted file(String key, int bytes) {
    return new Wanted(key, bytes, () -> content(key, bytes));
  }

  private synchronized InputStream content(String key, int bytes) {
    fetched.add(key);
    return new ByteArrayInputStream(key.repeat(bytes).substring(0, bytes).getBytes());
  }

  private List<Path> fetch(FileCache cache, Wanted... files) throws IOException {
    return cache.fetch(List.of(files), 2, FetchProgress.NONE);
  }

  private List<String> copies() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("files"))) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void a_file_is_fetched_once_whoever_reads_it_how_often() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (FileCache cache = open()) {
        assertThat(fetch(cache, file("a", 100), file("b", 200)))
            .extracting(Files::size)
            .containsExactly(100L, 200L);
        fetch(cache, file("b", 200));
      }
    }
    assertThat(fetched).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void what_was_used_longest_ago_goes_first_and_the_bound_holds() throws Exception {
    for (String key : List.of("a", "b", "c")) {
      try (FileCache cache = open()) {
        fetch(cache, file(key, 300));
      }
    }
    try (FileCache cache = open()) {
      fetch(cache, file("a", 300));
    }
    try (FileCache cache = open()) {
      fetch(cache, file("d", 300));
    }
    assertThat(copies()).containsExactly("a-300.parquet", "c-300.parquet", "d-300.parquet");
  }

  @Test
  void what_is_read_stays_whatever_others_fetch() throws Exception {
    try (FileCache reader = open()) {
      Path read = fetch(reader, file("a", 600)).getFirst();
      try (FileCache other = open()) {
        fetch(other, file("b", 600));
      }
      assertThat(copies()).containsExactly("b-600.parquet");
      assertThat(Files.size(read)).isEqualTo(600);
    }
    assertThat(used()).isEmpty();
  }

  private List<Path> used() throws IOException {
    try (Stream<Path> readers = Files.list(folder.resolve("use"))) {
      return readers.toList();
    }
  }

  @Test
  void more_than_the_bound_is_refused_with_what_helps() throws Exception {
    try (FileCache cache = open()) {
      assertThatThrownBy(() -> fetch(cache, file("a", 600), file("b", 600)))
          .isInstanceOf(LakeFailure.class)
          .hasMessageContainingAll("--since", "--cache-max");
    }
    assertThat(fetched).isEmpty();
  }

  @Test
  void a_download_that_breaks_is_tried_again_and_never_taken_for_the_file() throws Exception {
    try (FileCache cache = open()) {
      int[] tries = {0};
      Wanted breaking =
          new Wanted(
              "a",
              100,
              () -> {
                tries[0]++;
                return content("a", tries[0] == 1 ? 40 : 100);
              });
      assertThat(Files.size(fetch(cache, breaking).getFirst())).isEqualTo(100);
      assertThat(tries[0]).isEqualTo(2);

      Wanted shortFile = new Wanted("b", 100, () -> content("b", 99));
      assertThatThrownBy(() -> fetch(cache, shortFile))
          .hasMessageContaining("it has 99 bytes instead of 100");
    }
    assertThat(copies()).containsExactly("a-100.parquet");
  }

  @Test
  void what_a_dead_reader_left_is_removed() throws Exception {
    Path left = Files.createDirectories(folder.resolve("use/1-dead"));
    Files.writeString(left.resolve("x.parquet"), "x");
    Path part = Files.createDirectories(folder.resolve("files")).resolve("y-1.parquet.part");
    Files.writeString(part, "y");
    Files.writeString(folder.resolve("files/a-100.parquet"), "cut off");
    try (FileCache cache = open()) {
      fetch(cache, file("a", 100));
      assertThat(left).doesNotExist();
      assertThat(copies()).containsExactly("a-100.parquet");
      assertThat(fetched).containsExactly("a");
    }
  }

  @Test
  void many_files_come_in_their_order() throws Exception {
    List<Wanted> many = IntStream.range(0, 50).mapToObj(i -> file("k" + i, 10 + i % 3)).toList();
    try (FileCache cache = open()) {
      List<Long> seen = new ArrayList<>();
      List<Path> paths = cache.fetch(many, 4, (done, _) -> seen.add(done));
      assertThat(paths)
          .extracting(path -> path.getFileName().toString())
          .containsExactlyElementsOf(many.stream().map(Wanted::name).toList());
      assertThat(seen).hasSize(50).isSorted();
    }
  }
}
