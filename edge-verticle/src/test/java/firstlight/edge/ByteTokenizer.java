package firstlight.edge;

import firstlight.model.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * A tokenizer that a person can follow: ids below 256 are bytes, then come an end token, a
 * beginning token, and the two halves of an emoji.
 */
final class ByteTokenizer implements Tokenizer {
  static final int END = 256;
  static final int BEGIN = 257;

  /** The first two bytes of U+1F999, and the others. */
  static final int LLAMA_HEAD = 258;

  static final int LLAMA_TAIL = 259;
  static final int SIZE = 260;

  private static final String END_TEXT = "<|end|>";
  private static final String BEGIN_TEXT = "<|begin|>";

  @Override
  public int[] encode(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] ids = new int[bytes.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = bytes[i] & 0xff;
    }
    return ids;
  }

  @Override
  public int[] encodeWithControl(String text) {
    List<Integer> ids = new ArrayList<>();
    String rest = text;
    while (!rest.isEmpty()) {
      if (rest.startsWith(END_TEXT)) {
        ids.add(END);
        rest = rest.substring(END_TEXT.length());
      } else if (rest.startsWith(BEGIN_TEXT)) {
        ids.add(BEGIN);
        rest = rest.substring(BEGIN_TEXT.length());
      } else {
        int next = rest.offsetByCodePoints(0, 1);
        for (int id : encode(rest.substring(0, next))) {
          ids.add(id);
        }
        rest = rest.substring(next);
      }
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public int[] encodePrompt(String text) {
    return encodeWithControl(text);
  }

  @Override
  public byte[] bytes(int id) {
    return switch (id) {
      case END, BEGIN -> new byte[0];
      case LLAMA_HEAD -> new byte[] {(byte) 0xf0, (byte) 0x9f};
      case LLAMA_TAIL -> new byte[] {(byte) 0xa6, (byte) 0x99};
      default -> {
        if (id < 0 || id >= SIZE) {
          throw new IllegalArgumentException("no such id");
        }
        yield new byte[] {(byte) id};
      }
    };
  }

  /** The bytes of several tokens. */
  byte[] bytes(int[] ids) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int id : ids) {
      all.writeBytes(bytes(id));
    }
    return all.toByteArray();
  }

  @Override
  public boolean isControl(int id) {
    return id == END || id == BEGIN;
  }

  @Override
  public String text(int id) {
    return id == END ? END_TEXT : id == BEGIN ? BEGIN_TEXT : "token " + id;
  }

  @Override
  public int vocabularySize() {
    return SIZE;
  }

  @Override
  public OptionalInt bos() {
    return OptionalInt.of(BEGIN);
  }

  @Override
  public OptionalInt eos() {
    return OptionalInt.of(END);
  }

  @Override
  public int[] endTokens() {
    return new int[] {END};
  }
}
