package firstlight.feedback;

import firstlight.lake.LakeCommits;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a batch into the lake so that doing it again, by whomever, changes nothing. Blocks: for
 * worker threads only.
 *
 * <p>The Cut comes first: from the moment the first file is there, everybody must end this batch at
 * the same offset. It is removed some batches after this one is committed: somebody who read the
 * committed offset just before it moved may still look for it.
 */
final class LakeUpload {
  private static final Logger LOG = LoggerFactory.getLogger(LakeUpload.class);

  private final LakeStore store;
  private final LakeTables tables;
  private final Path spool;

  LakeUpload(LakeStore store, LakeTables tables, Path spool) {
    this.store = store;
    this.tables = tables;
    this.spool = spool;
  }

  /** The offset at which the newest batch in the tables begins; 0 where there is none. */
  long place(String topicId, int partition) throws IOException {
    return tables.place(topicId, partition).first();
  }

  /** Where a batch that begins there must end; {@link ParquetRoller#NO_CUT} when that is open. */
  long cut(BatchName name) throws IOException {
    long written = written(name);
    if (written != ParquetRoller.NO_CUT) {
      return written;
    }
    // Somebody may have removed the Cut, or Kafka what the batch began with.
    LakeCommits.Place place = tables.place(name.topicId(), name.partition());
    boolean begun = name.first() >= place.first() && name.first() < place.next();
    return begun ? place.next() - 1 : ParquetRoller.NO_CUT;
  }

  private long written(BatchName name) throws IOException {
    byte[] cut = store.read(name.cut());
    return cut == null ? ParquetRoller.NO_CUT : parse(cut);
  }

  /**
   * Uploads the batch, and appends it to the tables.
   *
   * @return where the batch ends: its own last offset, and all its Events can be queried; or
   *     another offset, which somebody else wrote down before, and nothing was done
   */
  long upload(OpenBatch batch) throws IOException {
    BatchName name = batch.name();
    long last = batch.roller().last();
    if (batch.files().isEmpty()) {
      return last;
    }
    byte[] mine = Long.toString(last).getBytes(StandardCharsets.US_ASCII);
    if (!store.create(name.cut(), mine)) {
      long theirs = written(name);
      if (theirs == ParquetRoller.NO_CUT) {
        throw new IOException("the end of batch %s was removed just now".formatted(name));
      }
      if (theirs != last) {
        return theirs;
      }
    }
    Map<LakeKind, List<LakeFile>> files = new EnumMap<>(LakeKind.class);
    for (ParquetFileWriter.Finished file : batch.files()) {
      LakeFile uploaded = batch.uploaded(file, () -> upload(name, file));
      files.computeIfAbsent(file.folder().kind(), _ -> new ArrayList<>()).add(uploaded);
    }
    for (Map.Entry<LakeKind, List<LakeFile>> each : files.entrySet()) {
      tables.append(each.getKey(), name, last + 1, each.getValue());
    }
    return last;
  }

  private LakeFile upload(BatchName name, ParquetFileWriter.Finished file) throws IOException {
    String object = name.file(file.folder());
    if (store.create(object, file.path())) {
      return file.at(store.uri(object), file.bytes(), name.partition());
    }
    long there = lengthIfSame(object, file.digest());
    if (there >= 0) {
      return file.at(store.uri(object), there, name.partition());
    }
    String other = name.otherFile(file.folder(), file.digest());
    LOG.warn("{} has other rows (a topic made anew?); writing {} instead", object, other);
    long length = store.create(other, file.path()) ? file.bytes() : length(other);
    return file.at(store.uri(other), length, name.partition());
  }

  /** Its rows may be laid out otherwise: another version wrote it. -1: it has other rows. */
  private long lengthIfSame(String name, String digest) throws IOException {
    return fetched(name, copy -> digestOf(copy).equals(digest) ? Files.size(copy) : -1);
  }

  private long length(String name) throws IOException {
    return fetched(name, Files::size);
  }

  /** What is to be known of an object's copy. */
  private interface Look {
    long at(Path copy) throws IOException;
  }

  private long fetched(String name, Look look) throws IOException {
    Path copy = Files.createTempFile(spool, "there-", ".parquet");
    try {
      store.fetch(name, copy);
      return look.at(copy);
    } finally {
      Files.deleteIfExists(copy);
    }
  }

  private static String digestOf(Path file) {
    try {
      return ParquetFileWriter.digestOf(file);
    } catch (IOException e) {
      LOG.warn("an object that should be a Parquet file is none: {}", e.getMessage());
      return "";
    }
  }

  /** Removes the Cut of a batch that nobody will read again. */
  void forget(BatchName name) throws IOException {
    store.delete(name.cut());
  }

  private static long parse(byte[] cut) throws IOException {
    try {
      return Long.parseLong(new String(cut, StandardCharsets.US_ASCII));
    } catch (NumberFormatException e) {
      throw new IOException("the end of a batch is not a number", e);
    }
  }
}
