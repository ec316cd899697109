package firstlight.edge;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * How a frame lies in a file of the spool: a mark by which the next frame is found behind a damaged
 * one, the body's length, a checksum of the length, the lane and the body; the lane; the body.
 */
final class SpoolFrame {
  static final int HEADER_BYTES = 13;

  /** No body is longer: an Event is at most 16 MiB. */
  static final int BODY_BYTES_MAX = 32 << 20;

  static final int MARK = 0x464C_4531;
  private static final int LENGTH_AT = 4;
  private static final int CRC_AT = 8;
  private static final int LANE_AT = 12;

  private SpoolFrame() {}

  /** Bytes of a frame with a body in these pieces. */
  static int size(int bodyBytes) {
    return HEADER_BYTES + bodyBytes;
  }

  /** Puts a frame whose body is these two pieces. */
  static void put(ByteBuffer out, SpoolLane lane, byte[] first, byte[] second) {
    int length = first.length + second.length;
    CRC32C crc = new CRC32C();
    begin(crc, length, lane.code());
    crc.update(first);
    crc.update(second);
    out.putInt(MARK).putInt(length).putInt((int) crc.getValue()).put(lane.code());
    out.put(first).put(second);
  }

  /** The body's length as the header at the buffer's position says; negative: it is none. */
  static int length(ByteBuffer frame, SpoolLane lane) {
    int at = frame.position();
    int length = frame.getInt(at + LENGTH_AT);
    boolean sound =
        frame.getInt(at) == MARK
            && frame.get(at + LANE_AT) == lane.code()
            && length >= 0
            && length <= BODY_BYTES_MAX;
    return sound ? length : -1;
  }

  /** Whether the whole frame at the buffer's position is what was written. */
  static boolean isWhole(ByteBuffer frame, int length) {
    int at = frame.position();
    CRC32C crc = new CRC32C();
    begin(crc, length, frame.get(at + LANE_AT));
    crc.update(frame.slice(at + HEADER_BYTES, length));
    return (int) crc.getValue() == frame.getInt(at + CRC_AT);
  }

  private static void begin(CRC32C crc, int length, byte lane) {
    crc.update(length >>> 24);
    crc.update(length >>> 16);
    crc.update(length >>> 8);
    crc.update(length);
    crc.update(lane);
  }
}
