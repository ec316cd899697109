package firstlight.app;

import java.nio.charset.StandardCharsets;

/**
 * Where a sink can be caught between two of its steps: each is told by what goes over the wire, and
 * has not gone further yet.
 */
enum Moment {
  /** The file is written, nothing of it is at the store. */
  UPLOAD_ASKED,
  /** The file is in the store, the sink does not know. */
  UPLOAD_DONE,
  /** All files are there, the list of them is about to be. */
  MANIFEST_ASKED,
  /** The table's next state is in the store, but is not the table's yet. */
  METADATA_DONE,
  /** The table is about to change. */
  TABLE_ASKED,
  /** The table has changed, the sink does not know; the offset is not committed. */
  TABLE_DONE;

  private static final byte[] METADATA = ".metadata.json".getBytes(StandardCharsets.US_ASCII);

  /** Whether the answer to what was asked tells it. */
  boolean answered() {
    return this == UPLOAD_DONE || this == METADATA_DONE || this == TABLE_DONE;
  }

  /** Whether it is told on connections to the catalog, else to the store. */
  boolean ofCatalog() {
    return this == TABLE_ASKED || this == TABLE_DONE;
  }

  /** Whether a client's bytes are the request that tells it, or that its answer tells. */
  boolean asks(byte[] bytes, int length) {
    if (ofCatalog()) {
      // Only a change names the file of the next state; a question gets it as its answer.
      return contains(bytes, length, METADATA);
    }
    String head = new String(bytes, 0, Math.min(length, 512), StandardCharsets.ISO_8859_1);
    String line = head.lines().findFirst().orElse("");
    return line.startsWith("PUT ")
        && switch (this) {
          case UPLOAD_ASKED, UPLOAD_DONE -> line.contains(".parquet");
          case MANIFEST_ASKED -> line.contains(".avro");
          default -> line.contains(".metadata.json");
        };
  }

  private static boolean contains(byte[] bytes, int length, byte[] wanted) {
    for (int from = 0; from + wanted.length <= length; from++) {
      int same = 0;
      while (same < wanted.length && bytes[from + same] == wanted[same]) {
        same++;
      }
      if (same == wanted.length) {
        return true;
      }
    }
    return false;
  }
}
