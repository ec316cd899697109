package firstlight.lake;

/**
 * What merging has done.
 *
 * @param filesBefore small files that were replaced
 * @param filesAfter files in their place
 * @param bytesBefore of the files that were replaced
 * @param bytesAfter of the files in their place
 * @param rows in the new files
 * @param repeats rows left out because an older row has the same event id
 * @param givenUp merges that came to nothing, because the table had changed too much meanwhile
 */
public record Merging(
    int filesBefore,
    int filesAfter,
    long bytesBefore,
    long bytesAfter,
    long rows,
    long repeats,
    int givenUp) {
  static final Merging NOTHING = new Merging(0, 0, 0, 0, 0, 0, 0);
  static final Merging GIVEN_UP = new Merging(0, 0, 0, 0, 0, 0, 1);

  Merging plus(Merging other) {
    return new Merging(
        filesBefore + other.filesBefore,
        filesAfter + other.filesAfter,
        bytesBefore + other.bytesBefore,
        bytesAfter + other.bytesAfter,
        rows + other.rows,
        repeats + other.repeats,
        givenUp + other.givenUp);
  }
}
