package firstlight.edge;

import firstlight.model.ChatTemplate;
import firstlight.model.Tokenizer;
import java.util.Optional;

/**
 * A model as the client's side knows it: no weights.
 *
 * @param name as clients say it
 * @param template empty for a base model, which has no chat
 * @param contextMax positions it was made for
 * @param digest SHA-256 of its file, hexadecimal
 * @param createdSeconds Unix time, s, shown in the list of models
 */
public record EdgeModel(
    String name,
    Tokenizer tokenizer,
    Optional<ChatTemplate> template,
    int contextMax,
    String digest,
    long createdSeconds) {}
