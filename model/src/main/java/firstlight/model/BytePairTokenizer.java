package firstlight.model;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Byte-level byte-pair encoding: words are cut by the model's own {@link PreTokenizer}, a word's
 * bytes are joined by the learnt merges.
 *
 * <p>A vocabulary may lack bytes that never occurred in training (SmolLM2 has none for six control
 * characters and for the first byte of the unassigned planes 4 to 11): a character with such a byte
 * is encoded as U+FFFD.
 *
 * <p>Short words are remembered in a table of fixed size, where each word has one place and drives
 * out the one before; entries are immutable, so threads need no lock.
 */
final class BytePairTokenizer extends VocabularyTokenizer {
  private static final int REMEMBERED_WORDS = 8192;
  private static final int REMEMBERED_LENGTH_MAX = 32;
  private static final String REPLACEMENT = "\uFFFD";

  private final PreTokenizer preTokenizer;
  private final int[] byteIds = new int[256];
  private final LongTable ranks;
  private final int[] results;
  private final AtomicReferenceArray<Word> words = new AtomicReferenceArray<>(REMEMBERED_WORDS);

  private record Word(String text, int[] ids) {}

  /**
   * @param merges pairs of tokens, the first learnt first: both texts with a blank between
   * @throws IllegalArgumentException a merge that is not a pair of tokens of the vocabulary, or a
   *     vocabulary that cannot spell U+FFFD
   */
  BytePairTokenizer(
      Vocabulary vocabulary,
      SpecialTokens specials,
      PreTokenizer preTokenizer,
      List<String> merges) {
    super(vocabulary, specials);
    this.preTokenizer = preTokenizer;
    for (int b = 0; b < 256; b++) {
      byteIds[b] = vocabulary.find(String.valueOf(ByteAlphabet.charOf(b)));
    }
    // Bytes that never occurred in training may be missing, but what stands for them must not.
    if (!isSpellable(REPLACEMENT.getBytes(StandardCharsets.UTF_8))) {
      throw new IllegalArgumentException("the vocabulary has no tokens for the bytes of U+FFFD");
    }
    ranks = new LongTable(merges.size());
    results = new int[merges.size()];
    for (int rank = 0; rank < merges.size(); rank++) {
      addMerge(merges.get(rank), rank);
    }
  }

  private void addMerge(String merge, int rank) {
    int blank = Math.max(0, merge.indexOf(' ', 1));
    String first = merge.substring(0, blank);
    String second = merge.substring(Math.min(blank + 1, merge.length()));
    int left = vocabulary().find(first);
    int right = vocabulary().find(second);
    int result = vocabulary().find(first + second);
    if (blank == 0 || left < 0 || right < 0 || result < 0) {
      throw new IllegalArgumentException(
          "merge %d is not of two tokens that make a third".formatted(rank));
    }
    results[rank] = result;
    ranks.putIfAbsent(pair(left, right), rank);
  }

  private static long pair(int left, int right) {
    return ((long) left << 32) | right;
  }

  @Override
  void encodePiece(String text, Ids ids) {
    for (String word : preTokenizer.split(text)) {
      if (word.length() > REMEMBERED_LENGTH_MAX) {
        ids.addAll(encodeWord(word));
      } else {
        ids.addAll(remembered(word));
      }
    }
  }

  private int[] remembered(String word) {
    int place = (word.hashCode() * 0x9E3779B9) >>> 19;
    Word last = words.get(place);
    if (last != null && last.text().equals(word)) {
      return last.ids();
    }
    int[] ids = encodeWord(word);
    words.set(place, new Word(word, ids));
    return ids;
  }

  private int[] encodeWord(String word) {
    byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
    Ids ids = new Ids();
    int whole = preTokenizer.prefersWholeWords() ? wholeWord(bytes) : -1;
    if (whole >= 0) {
      ids.add(whole);
      return ids.toArray();
    }
    if (!isSpellable(bytes)) {
      return encodeWord(spellable(word));
    }
    Merger merger = new Merger(bytes.length, this::join);
    for (int i = 0; i < bytes.length; i++) {
      merger.add(byteIds[bytes[i] & 0xFF], i + 1);
    }
    merger.merge((id, _, _) -> ids.add(id));
    return ids.toArray();
  }

  private boolean isSpellable(byte[] bytes) {
    for (byte b : bytes) {
      if (byteIds[b & 0xFF] < 0) {
        return false;
      }
    }
    return true;
  }

  /** The word with U+FFFD for characters of which a byte has no token. */
  private String spellable(String word) {
    StringBuilder spellable = new StringBuilder();
    word.codePoints()
        .mapToObj(Character::toString)
        .map(one -> isSpellable(one.getBytes(StandardCharsets.UTF_8)) ? one : REPLACEMENT)
        .forEach(spellable::append);
    return spellable.toString();
  }

  private long join(int left, int right, int from, int to) {
    int rank = ranks.get(pair(left, right));
    return rank == LongTable.NONE ? Merger.NONE : Merger.joined(rank, results[rank]);
  }

  private int wholeWord(byte[] bytes) {
    if (bytes.length > 4 * REMEMBERED_LENGTH_MAX) {
      return -1;
    }
    StringBuilder text = new StringBuilder(bytes.length);
    for (byte b : bytes) {
      text.append(ByteAlphabet.charOf(b & 0xFF));
    }
    int id = vocabulary().find(text.toString());
    return id >= 0 && vocabulary().kind(id) == Vocabulary.NORMAL ? id : -1;
  }

  @Override
  byte[] normalBytes(int id) {
    return ByteAlphabet.bytes(vocabulary().text(id));
  }
}
