package firstlight.protocol;

import java.util.List;

/**
 * What is kept of the text of a Response.
 *
 * @param input what was asked in this Request; empty unless the policy is FULL
 * @param outputs the text of each answer; empty unless the policy is FULL
 * @param inputDigest a keyed digest, hexadecimal; empty unless the policy is HASHED
 * @param outputDigest the same of the answers
 * @param redactions how many places were redacted in all
 */
public record KeptText(
    TextPolicy policy,
    List<Message> input,
    List<String> outputs,
    String inputDigest,
    String outputDigest,
    int redactions) {
  public KeptText {
    input = List.copyOf(input);
    outputs = List.copyOf(outputs);
  }

  /**
   * A message, as the model's template gets it; a raw prompt is one without a role.
   *
   * @param calls that an assistant made
   * @param callId the call that a tool's message answers; empty for none
   * @param name the speaker's; empty for none
   */
  public record Message(String role, String text, List<Call> calls, String callId, String name) {
    public Message {
      calls = List.copyOf(calls);
    }
  }

  /**
   * @param arguments JSON as it was sent
   */
  public record Call(String id, String name, String arguments) {}
}
