package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;

/**
 * How long a Sequence and its answer may be: the tightest of the limits that apply.
 *
 * @param contextMax positions of prompt and answer together
 * @param whose where that limit comes from, in words for the client that go on from its figure
 * @param outputMax most tokens of an answer
 */
record LengthLimits(int contextMax, String whose, int outputMax) {
  static final LengthLimits NONE = new LengthLimits(Integer.MAX_VALUE, "", Integer.MAX_VALUE);

  /**
   * @param servedMax the most positions a Sequence can have on one of the model's replicas
   */
  static LengthLimits of(EdgeModel model, int servedMax, TenantConfig tenant) {
    LengthLimits tightest =
        new LengthLimits(model.contextMax(), "", Math.min(model.answerLimit(), tenant.outputMax()));
    return tightest
        .within(servedMax, " here, as many as a replica's memory holds")
        .within(model.contextLimit(), " here, as its configuration says")
        .within(tenant.contextMax(), " for you, as your tenant's configuration says");
  }

  private LengthLimits within(int max, String whose) {
    return max < contextMax ? new LengthLimits(max, whose, outputMax) : this;
  }

  /**
   * @param tokens of the prompt, perhaps "at least" so many
   * @param param the field that holds the prompt
   */
  MeshException tooLong(String tokens, String param) {
    return new MeshException(
        FailureKind.INVALID_REQUEST,
        "context_length_exceeded",
        ("The prompt has %s tokens, but the model's context has %d positions%s. The answer needs at"
                + " least one of them: shorten the prompt.")
            .formatted(tokens, contextMax, whose),
        param,
        0);
  }
}
