package firstlight.model;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/**
 * What both kinds of tokenizers share: whole tokens are cut out of the text, the rest is encoded.
 */
abstract class VocabularyTokenizer implements Tokenizer {
  private static final byte[] NO_BYTES = {};

  private final Vocabulary vocabulary;
  private final SpecialTokens specials;

  VocabularyTokenizer(Vocabulary vocabulary, SpecialTokens specials) {
    this.vocabulary = vocabulary;
    this.specials = specials;
  }

  final Vocabulary vocabulary() {
    return vocabulary;
  }

  /** Encodes well-formed text that holds no whole token; not empty. */
  abstract void encodePiece(String text, Ids ids);

  /** The bytes of a normal token. */
  abstract byte[] normalBytes(int id);

  @Override
  public final int[] encode(String text) {
    return encode(text, vocabulary.userDefined()).toArray();
  }

  @Override
  public final int[] encodeWithControl(String text) {
    return encode(text, vocabulary.special()).toArray();
  }

  @Override
  public final int[] encodePrompt(String text) {
    Ids ids = encode(text, vocabulary.special());
    Ids prompt = new Ids();
    OptionalInt bos = specials.bos();
    if (specials.addBos() && bos.isPresent() && (ids.size() == 0 || ids.get(0) != bos.getAsInt())) {
      prompt.add(bos.getAsInt());
    }
    prompt.addAll(ids.toArray());
    OptionalInt eos = specials.eos();
    if (specials.addEos()
        && eos.isPresent()
        && (ids.size() == 0 || ids.get(ids.size() - 1) != eos.getAsInt())) {
      prompt.add(eos.getAsInt());
    }
    return prompt.toArray();
  }

  private Ids encode(String raw, TextMatcher wholeTokens) {
    String text = wellFormed(raw);
    Ids ids = new Ids();
    int from = 0;
    while (from < text.length()) {
      TextMatcher.Match match = wholeTokens.find(text, from);
      int to = match == null ? text.length() : match.start();
      if (to > from) {
        encodePiece(text.substring(from, to), ids);
      }
      if (match != null) {
        ids.add(match.id());
      }
      from = match == null ? text.length() : match.end();
    }
    return ids;
  }

  @Override
  public final byte[] bytes(int id) {
    if (vocabulary.isItsText(id)) {
      return vocabulary.text(id).getBytes(StandardCharsets.UTF_8);
    }
    return switch (vocabulary.kind(id)) {
      case Vocabulary.NORMAL -> normalBytes(id);
      case Vocabulary.BYTE -> new byte[] {byteOf(vocabulary.text(id))};
      default -> NO_BYTES;
    };
  }

  /**
   * The byte of a token whose text is {@code <0xHH>}; the text was checked when the file was read.
   */
  private static byte byteOf(String text) {
    return (byte) Integer.parseInt(text, 3, 5, 16);
  }

  @Override
  public final String text(int id) {
    return vocabulary.kind(id) == Vocabulary.NORMAL
        ? new String(normalBytes(id), StandardCharsets.UTF_8)
        : vocabulary.text(id);
  }

  @Override
  public final boolean isControl(int id) {
    return vocabulary.isControl(id);
  }

  @Override
  public final int vocabularySize() {
    return vocabulary.size();
  }

  @Override
  public final OptionalInt bos() {
    return specials.bos();
  }

  @Override
  public final OptionalInt eos() {
    return specials.eos();
  }

  @Override
  public final int[] endTokens() {
    return specials.ends().clone();
  }

  /** The text with U+FFFD in place of unpaired surrogates, which have no bytes. */
  private static String wellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return text.codePoints()
            .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
      }
    }
    return text;
  }
}
