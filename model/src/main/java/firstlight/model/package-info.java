/** A model file as data: GGUF, tokenizer, chat template. */
@NullMarked
package firstlight.model;

import org.jspecify.annotations.NullMarked;
