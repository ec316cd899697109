package firstlight.feedback;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides where a batch ends. Knows no file, clock or thread.
 *
 * <p>A batch has a file for each folder its Events belong to, so Events whose dates alternate do
 * not close and open files in turn; only the number of open files is a limit. Once a Cut is known
 * it is the only rule: the batch must end where it ended before.
 */
final class ParquetRoller {
  private final FeedbackConfig.Files limits;
  private final long cut;
  private final long openedNanos;
  private final Set<LakeFolder> folders = new HashSet<>();
  private int rows;
  private long bytes;
  private long last = -1;

  /** A cut that is not known. */
  static final long NO_CUT = -1;

  /**
   * @param cut last offset of the batch, {@link #NO_CUT} when that is still to be decided
   * @param openedNanos when its first record arrived
   */
  ParquetRoller(FeedbackConfig.Files limits, long cut, long openedNanos) {
    this.limits = limits;
    this.cut = cut;
    this.openedNanos = openedNanos;
  }

  /**
   * Takes a record into the batch if it fits.
   *
   * @param folder null for a record that gets no row
   * @return false: the batch ends before it
   */
  boolean take(long offset, @Nullable LakeFolder folder, int size) {
    if (cut == NO_CUT ? !fits(folder, size) : offset > cut) {
      return false;
    }
    if (folder != null) {
      folders.add(folder);
    }
    rows++;
    bytes += size;
    last = offset;
    return true;
  }

  private boolean fits(@Nullable LakeFolder folder, int size) {
    boolean room = folder == null || folders.contains(folder) || folders.size() < limits.openMax();
    return rows == 0 || (room && rows < limits.rowsMax() && bytes + size <= limits.bytesMax());
  }

  /** Whether nothing more belongs to the batch. */
  boolean full() {
    return cut == NO_CUT ? rows >= limits.rowsMax() || bytes >= limits.bytesMax() : last >= cut;
  }

  /** Whether the batch is to be closed although it is not full. */
  boolean due(long nowNanos) {
    return cut == NO_CUT && rows > 0 && nowNanos - openedNanos >= limits.ageMax().toNanos();
  }

  /** Whether the batch may be closed early, at a stop. */
  boolean mayClose() {
    return rows > 0 && (cut == NO_CUT || last >= cut);
  }

  long last() {
    return last;
  }
}
