package firstlight.model;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/** Makes the tokenizer that a model file describes. */
public final class Tokenizers {
  private static final String KEY = "tokenizer.ggml.";
  private static final String TOKENS = KEY + "tokens";
  private static final int VOCABULARY_MAX = 1 << 22;

  // Control tokens by which known model families end a turn or a text; files often name only one of
  // them as their end.
  private static final Set<String> END_NAMES =
      Set.of(
          "</s>",
          "<|im_end|>",
          "<end_of_turn>",
          "<|eot_id|>",
          "<|eom_id|>",
          "<|end_of_text|>",
          "<|endoftext|>",
          "<|end|>",
          "<|EOT|>",
          "<EOT>",
          "<end_of_utterance>",
          "<\uFF5Cend\u2581of\u2581sentence\uFF5C>");

  private final Metadata metadata;

  private Tokenizers(Metadata metadata) {
    this.metadata = metadata;
  }

  /**
   * The tokenizer of a model file; it stays usable after the file is closed.
   *
   * @throws InvalidModelFile the file describes no tokenizer, or one of an unknown kind
   */
  public static Tokenizer of(ModelFile file) {
    return of(file.metadata());
  }

  static Tokenizer of(Metadata metadata) {
    return new Tokenizers(metadata).read();
  }

  private Tokenizer read() {
    String kind = metadata.string(KEY + "model");
    return switch (kind) {
      case "gpt2" -> bytePair();
      case "llama" -> sentencePiece();
      default ->
          throw metadata.invalid(
              KEY + "model", "is \"%s\"; supported are gpt2 and llama".formatted(kind));
    };
  }

  private Tokenizer bytePair() {
    String name = metadata.string(KEY + "pre");
    PreTokenizer preTokenizer =
        PreTokenizer.named(name)
            .orElseThrow(
                () ->
                    metadata.invalid(
                        KEY + "pre",
                        "is \"%s\"; supported are %s".formatted(name, PreTokenizer.knownNames())));
    Vocabulary vocabulary = vocabulary();
    SpecialTokens specials = specials(vocabulary, preTokenizer.prefersWholeWords());
    List<String> merges = metadata.strings(KEY + "merges");
    try {
      return new BytePairTokenizer(vocabulary, specials, preTokenizer, merges);
    } catch (IllegalArgumentException e) {
      throw metadata.invalid(KEY + "merges", "cannot be used: " + e.getMessage());
    }
  }

  private Tokenizer sentencePiece() {
    Vocabulary vocabulary = vocabulary();
    float[] scores = metadata.floats(KEY + "scores");
    if (scores.length != vocabulary.size()) {
      throw metadata.invalid(
          KEY + "scores",
          "has %d elements for %d tokens".formatted(scores.length, vocabulary.size()));
    }
    return new SentencePieceTokenizer(
        vocabulary,
        specials(vocabulary, true),
        scores,
        metadata.flag(KEY + "add_space_prefix", true),
        id("unknown_token_id", vocabulary).orElse(-1));
  }

  private Vocabulary vocabulary() {
    long count = metadata.count(TOKENS).orElse(0);
    if (count == 0 || count > VOCABULARY_MAX) {
      throw metadata.invalid(TOKENS, "must hold 1 to %d tokens".formatted(VOCABULARY_MAX));
    }
    List<String> texts = metadata.strings(TOKENS);
    int[] kinds = new int[texts.size()];
    Arrays.fill(kinds, Vocabulary.NORMAL);
    String key = KEY + "token_type";
    if (metadata.has(key)) {
      kinds = metadata.integers(key);
    }
    if (kinds.length != texts.size()) {
      throw metadata.invalid(
          key, "has %d elements for %d tokens".formatted(kinds.length, texts.size()));
    }
    for (int id = 0; id < kinds.length; id++) {
      checkKind(id, kinds[id], texts.get(id));
      if (kinds[id] != Vocabulary.BYTE && END_NAMES.contains(texts.get(id))) {
        // Some files have it wrong; a turn's end must not be forged by text.
        kinds[id] = Vocabulary.CONTROL;
      }
    }
    return new Vocabulary(texts, kinds);
  }

  private void checkKind(int id, int kind, String text) {
    if (kind < Vocabulary.NORMAL || kind > Vocabulary.BYTE) {
      throw metadata.invalid(
          KEY + "token_type", "has the unknown type %d for token %d".formatted(kind, id));
    }
    if (kind == Vocabulary.BYTE && !text.matches("<0x[0-9A-Fa-f]{2}>")) {
      throw metadata.invalid(TOKENS, "has a byte token %d that names no byte".formatted(id));
    }
  }

  private SpecialTokens specials(Vocabulary vocabulary, boolean addBosByDefault) {
    OptionalInt eos = id("eos_token_id", vocabulary);
    TreeSet<Integer> ends = new TreeSet<>();
    eos.ifPresent(ends::add);
    id("eot_token_id", vocabulary).ifPresent(ends::add);
    id("eom_token_id", vocabulary).ifPresent(ends::add);
    for (String name : END_NAMES) {
      int id = vocabulary.find(name);
      if (id >= 0 && vocabulary.isControl(id)) {
        ends.add(id);
      }
    }
    return new SpecialTokens(
        id("bos_token_id", vocabulary),
        eos,
        metadata.flag(KEY + "add_bos_token", addBosByDefault),
        metadata.flag(KEY + "add_eos_token", false),
        ends.stream().mapToInt(Integer::intValue).toArray());
  }

  private OptionalInt id(String name, Vocabulary vocabulary) {
    var id = metadata.findInteger(KEY + name);
    if (id.isEmpty()) {
      return OptionalInt.empty();
    }
    if (id.getAsLong() < 0 || id.getAsLong() >= vocabulary.size()) {
      throw metadata.invalid(
          KEY + name, "is outside the vocabulary of %d tokens".formatted(vocabulary.size()));
    }
    return OptionalInt.of((int) id.getAsLong());
  }
}
