package firstlight.batcher;

import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.InferenceFrames;
import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Submit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes a specification of what an edge sent, and trusts nothing of it. */
final class SubmissionRules {
  private final BatcherConfig config;
  private final DeviceCapacity capacity;

  SubmissionRules(BatcherConfig config, DeviceCapacity capacity) {
    this.config = config;
    this.capacity = capacity;
  }

  /**
   * @throws MeshException when it can not be run
   */
  GenerationSpec check(Submit submit) {
    if (!submit.getModel().equals(capacity.model())) {
      throw new MeshException(
          FailureKind.NOT_FOUND, "model_not_found", "This replica does not serve that model.");
    }
    // Sizes first: they are known without looking at every token.
    if (submit.getPromptCount() >= capacity.contextMax()) {
      throw Admission.tooLong(
          capacity.contextMax(), capacity.contextMax(), submit.getPromptCount());
    }
    most("known", submit.getKnownCount(), capacity.contextMax(), "known tokens");
    most("stop", submit.getStopCount(), config.stopStringsMax(), "stop strings");
    most("stop", submit.getStopTokensCount(), config.stopTokensMax(), "end tokens");
    most(
        "logit_bias",
        submit.getSampling().getBiasTokensCount(),
        config.biasTokensMax(),
        "biased tokens");
    submit
        .getStopList()
        .forEach(stop -> most("stop", stop.size(), config.stopBytesMax(), "bytes in one string"));
    require(
        submit.getStopList().stream().noneMatch(s -> s.isEmpty()),
        "stop",
        "A stop string must not be empty.");
    require(submit.getCredit() >= 0, null, "The credit is out of range.");
    tokens("prompt", submit.getPromptList());
    tokens("known", submit.getKnownList());
    tokens("logit_bias", submit.getSampling().getBiasTokensList());
    require(
        submit.getSampling().getBiasValuesList().stream().allMatch(v -> Float.isFinite(v)),
        "logit_bias",
        "A logit bias must be a number.");
    try {
      return InferenceFrames.spec(submit);
    } catch (IllegalArgumentException e) {
      throw MeshException.invalid("The request is not valid: " + e.getMessage() + ".", null);
    }
  }

  private void tokens(String param, List<Integer> ids) {
    require(
        ids.stream().allMatch(id -> id >= 0 && id < capacity.vocabulary()),
        param,
        "A token id is not in the vocabulary, which has %d tokens: 0 to %d."
            .formatted(capacity.vocabulary(), capacity.vocabulary() - 1));
  }

  private static void most(String param, int count, int max, String what) {
    require(count <= max, param, "There are %d %s, but at most %d.".formatted(count, what, max));
  }

  private static void require(boolean holds, @Nullable String param, String message) {
    if (!holds) {
      throw MeshException.invalid(message, param);
    }
  }
}
