package firstlight.feedback;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a batch into the lake so that doing it again, by whomever, changes nothing. Blocks: for
 * worker threads only.
 *
 * <p>The Cut comes first: from the moment the first file is there, everybody must end this batch at
 * the same offset. It is removed when the batch <em>after</em> it is committed: somebody who read
 * the committed offset just before it moved may still look for it.
 */
final class LakeUpload {
  private static final Logger LOG = LoggerFactory.getLogger(LakeUpload.class);

  private final LakeStore store;
  private final Path spool;

  LakeUpload(LakeStore store, Path spool) {
    this.store = store;
    this.spool = spool;
  }

  /** Where a batch that begins there must end; {@link ParquetRoller#NO_CUT} when that is open. */
  long cut(BatchName name) throws IOException {
    byte[] cut = store.read(name.cut());
    return cut == null ? ParquetRoller.NO_CUT : parse(cut);
  }

  /**
   * Uploads the batch.
   *
   * @return where the batch ends: {@code last}, and all files are there; or another offset, which
   *     somebody else wrote down before, and nothing was done
   */
  long upload(BatchName name, long last, List<ParquetFileWriter.Finished> files)
      throws IOException {
    if (files.isEmpty()) {
      return last;
    }
    byte[] mine = Long.toString(last).getBytes(StandardCharsets.US_ASCII);
    if (!store.create(name.cut(), mine)) {
      long theirs = cut(name);
      if (theirs == ParquetRoller.NO_CUT) {
        throw new IOException("the end of batch %s was removed just now".formatted(name));
      }
      if (theirs != last) {
        return theirs;
      }
    }
    for (ParquetFileWriter.Finished file : files) {
      upload(name, file);
    }
    return last;
  }

  private void upload(BatchName name, ParquetFileWriter.Finished file) throws IOException {
    String first = name.file(file.folder());
    if (store.create(first, file.path()) || same(first, file.digest())) {
      return;
    }
    String other = name.otherFile(file.folder(), file.digest());
    LOG.warn("{} has other rows (a topic made anew?); writing {} instead", first, other);
    store.create(other, file.path());
  }

  private boolean same(String name, String digest) throws IOException {
    Path copy = Files.createTempFile(spool, "there-", ".parquet");
    try {
      store.fetch(name, copy);
      return digestOf(copy).equals(digest);
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
