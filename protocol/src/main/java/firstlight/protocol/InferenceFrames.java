package firstlight.protocol;

import com.google.protobuf.ByteString;
import firstlight.protocol.wire.SamplingOptions;
import firstlight.protocol.wire.Submit;
import java.util.List;

/** {@link GenerationSpec} to its wire form and back. */
public final class InferenceFrames {
  private InferenceFrames() {}

  /**
   * @param credit tokens that may be sent before the first Credit
   */
  public static Submit submit(GenerationSpec spec, int credit) {
    Submit.Builder submit =
        Submit.newBuilder()
            .setGeneration(spec.id().value())
            .setTenant(spec.tenant().value())
            .setModel(spec.model())
            .setOutputMax(spec.outputMax())
            .setSampling(options(spec.sampling()))
            .setDeadline(spec.deadline())
            .setContinued(spec.continued())
            .setConstraint(spec.constraint())
            .setMoved(spec.moved())
            .setCredit(credit)
            .setPriority(spec.priority() == Priority.NORMAL ? "" : spec.priority().name());
    for (int token : spec.prompt()) {
      submit.addPrompt(token);
    }
    for (int token : spec.known()) {
      submit.addKnown(token);
    }
    for (byte[] stop : spec.stop()) {
      submit.addStop(ByteString.copyFrom(stop));
    }
    for (int token : spec.stopTokens()) {
      submit.addStopTokens(token);
    }
    return submit.build();
  }

  /**
   * @throws IllegalArgumentException when the submission is not a valid generation
   */
  public static GenerationSpec spec(Submit submit) {
    return new GenerationSpec(
        new GenerationId(submit.getGeneration()),
        new TenantId(submit.getTenant()),
        submit.getModel(),
        ints(submit.getPromptList()),
        ints(submit.getKnownList()),
        submit.getOutputMax(),
        sampling(submit.getSampling()),
        submit.getStopList().stream().map(ByteString::toByteArray).toList(),
        ints(submit.getStopTokensList()),
        submit.getDeadline(),
        priority(submit.getPriority()),
        submit.getContinued(),
        submit.getConstraint(),
        submit.getMoved());
  }

  private static Priority priority(String name) {
    return name.isEmpty() ? Priority.NORMAL : Priority.valueOf(name);
  }

  private static SamplingOptions options(Sampling sampling) {
    SamplingOptions.Builder options =
        SamplingOptions.newBuilder()
            .setTemperature(sampling.temperature())
            .setTopK(sampling.topK())
            .setTopP(sampling.topP())
            .setMinP(sampling.minP())
            .setRepetitionPenalty(sampling.repetitionPenalty())
            .setPresencePenalty(sampling.presencePenalty())
            .setFrequencyPenalty(sampling.frequencyPenalty())
            .setSeed(sampling.seed())
            .setTopLogprobs(sampling.topLogprobs());
    for (int i = 0; i < sampling.biasTokens().length; i++) {
      options.addBiasTokens(sampling.biasTokens()[i]).addBiasValues(sampling.biasValues()[i]);
    }
    return options.build();
  }

  private static Sampling sampling(SamplingOptions options) {
    float[] biases = new float[options.getBiasValuesCount()];
    for (int i = 0; i < biases.length; i++) {
      biases[i] = options.getBiasValues(i);
    }
    return new Sampling(
        options.getTemperature(),
        options.getTopK(),
        options.getTopP(),
        options.getMinP(),
        options.getRepetitionPenalty(),
        options.getPresencePenalty(),
        options.getFrequencyPenalty(),
        ints(options.getBiasTokensList()),
        biases,
        options.getSeed(),
        options.getTopLogprobs());
  }

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }
}
