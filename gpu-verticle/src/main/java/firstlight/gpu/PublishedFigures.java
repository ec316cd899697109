package firstlight.gpu;

/** What others have published, to stand beside what is measured. None of it was measured here. */
final class PublishedFigures {
  /** Of an H200, dense. */
  static final double BF16_TFLOPS = 800;

  private PublishedFigures() {}

  static void put(CheckReport report) {
    add(report, "NVIDIA H200", "copy, bytes read and written", 4300, "GB/s");
    add(report, "NVIDIA H200", "dense bf16, from 770 to", BF16_TFLOPS, "TFLOP/s");
    add(report, "NVIDIA H200", "8B in bf16, batch 1, bound by bandwidth", 286, "tokens/s");
    add(report, "NVIDIA H200", "8B in FP8, batch 1, bound by bandwidth", 535, "tokens/s");
    add(
        report,
        "TensorRT-LLM performance overview",
        "Llama-3.1-8B FP8, one H200, 128 in, 2048 out",
        26_221,
        "tokens/s");
    add(
        report,
        "TensorRT-LLM performance overview",
        "Llama-3.1-8B FP8, one H200, 1000 in, 1000 out",
        17_744,
        "tokens/s");
    add(
        report,
        "TensorRT-LLM performance overview",
        "Llama-3.3-70B FP8, two H200, 1000 in, 1000 out",
        2587,
        "tokens/s a GPU");
    add(
        report,
        "Look Ma, No Bubbles (Hazy Research)",
        "vLLM and SGLang, Llama-1B, batch 1, about this share of bandwidth",
        0.5,
        "share");
    add(
        report,
        "Look Ma, No Bubbles (Hazy Research)",
        "a megakernel, Llama-1B, batch 1, share of bandwidth",
        0.78,
        "share");
    add(report, "GPULlama3.java", "Llama-1B FP16, batch 1, RTX 4090", 109.6, "tokens/s");
    add(report, "GPULlama3.java", "Mistral-7B FP16, batch 1, RTX 4090", 24.9, "tokens/s");
  }

  private static void add(
      CheckReport report, String source, String what, double value, String unit) {
    report.add(
        "published", CheckReport.row("source", source, "what", what, "value", value, "unit", unit));
  }
}
