package firstlight.edge;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Turns bytes that come in pieces into text, and holds the bytes of a character back until it is
 * whole. Bytes that are no UTF-8 become U+FFFD, the same ones however they are cut.
 */
final class WholeCharacters {
  private static final int CHARACTER_BYTES_MAX = 4;

  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);
  private ByteBuffer held = ByteBuffer.allocate(CHARACTER_BYTES_MAX).flip();

  String next(byte[] bytes) {
    return decode(bytes, false);
  }

  /** Whatever is still held back; the object is not used after this. */
  String end() {
    return decode(new byte[0], true);
  }

  private String decode(byte[] bytes, boolean last) {
    ByteBuffer in = ByteBuffer.allocate(held.remaining() + bytes.length).put(held).put(bytes);
    in.flip();
    CharBuffer out = CharBuffer.allocate(in.remaining() + 2);
    decoder.decode(in, out, last);
    if (last) {
      decoder.flush(out);
    }
    held = in;
    return out.flip().toString();
  }
}
