package firstlight.edge;

import firstlight.model.ChatMessage;
import firstlight.protocol.KeptText;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Decides what of a text goes into an Event: all of it but what is redacted, a digest, or nothing.
 * For one thread.
 */
final class TextKeeper {
  private static final String ALGORITHM = "HmacSHA256";

  private final String hashKey;
  private final Redactor redactor;

  /**
   * A text as it may be kept.
   *
   * @param digest hexadecimal; empty unless the policy is HASHED
   */
  record Kept(String text, String digest, int redactions) {
    private static final Kept NOTHING = new Kept("", "", 0);
  }

  TextKeeper(TextsConfig config) {
    hashKey = config.hashKey();
    redactor = new Redactor(config);
  }

  /** What may be kept of one text. */
  Kept keep(TenantId tenant, TextPolicy policy, String text) {
    return switch (policy) {
      case FULL -> {
        String redacted = redactor.redact(text);
        yield new Kept(redacted, "", redactor.take());
      }
      case HASHED -> new Kept("", text.isEmpty() ? "" : digest(tenant, List.of(text)), 0);
      case NONE -> Kept.NOTHING;
    };
  }

  /** What may be kept of a turn. */
  KeptText keep(TenantId tenant, TextPolicy policy, List<TurnPrompt> input, List<String> outputs) {
    return switch (policy) {
      case FULL -> {
        List<KeptText.Message> messages = redacted(messages(input));
        List<String> kept = outputs.stream().map(redactor::redact).toList();
        yield new KeptText(policy, messages, kept, "", "", redactor.take());
      }
      case HASHED -> {
        List<String> parts = new ArrayList<>();
        for (KeptText.Message message : messages(input)) {
          parts.add(message.role());
          parts.add(message.text());
          message.calls().forEach(call -> parts.addAll(List.of(call.name(), call.arguments())));
        }
        yield new KeptText(
            policy, List.of(), List.of(), digest(tenant, parts), digest(tenant, outputs), 0);
      }
      case NONE -> new KeptText(policy, List.of(), List.of(), "", "", 0);
    };
  }

  private List<KeptText.Message> redacted(List<KeptText.Message> messages) {
    return messages.stream()
        .map(
            message ->
                new KeptText.Message(
                    message.role(),
                    redactor.redact(message.text()),
                    message.calls().stream()
                        .map(
                            call ->
                                new KeptText.Call(
                                    call.id(), call.name(), redactor.redact(call.arguments())))
                        .toList(),
                    message.callId(),
                    message.name()))
        .toList();
  }

  private static List<KeptText.Message> messages(List<TurnPrompt> input) {
    List<KeptText.Message> messages = new ArrayList<>();
    for (TurnPrompt prompt : input) {
      switch (prompt) {
        case TurnPrompt.Conversation conversation ->
            conversation.messages().forEach(message -> messages.add(message(message)));
        case TurnPrompt.Text(String text) ->
            messages.add(new KeptText.Message("", text, List.of(), "", ""));
        // Their text is known to nobody here; the ids stand in no Event.
        case TurnPrompt.Tokens _ -> {}
      }
    }
    return messages;
  }

  private static KeptText.Message message(ChatMessage message) {
    return new KeptText.Message(
        message.role(),
        message.content(),
        message.toolCalls().stream().map(TextKeeper::call).toList(),
        message.toolCallId() == null ? "" : message.toolCallId(),
        message.name() == null ? "" : message.name());
  }

  private static KeptText.Call call(Map<String, Object> call) {
    Object function = call.get("function");
    Map<?, ?> called = function instanceof Map<?, ?> map ? map : Map.of();
    Object arguments = called.get("arguments");
    return new KeptText.Call(
        text(call.get("id")),
        text(called.get("name")),
        arguments instanceof String text ? text : Json.text(Json.tree(arguments)));
  }

  private static String text(Object value) {
    return value instanceof String text ? text : "";
  }

  private String digest(TenantId tenant, List<String> parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      byte[] key = (tenant.value() + "\n" + hashKey).getBytes(StandardCharsets.UTF_8);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      for (String part : parts) {
        byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
        // The length in front: where a part ends must not be open.
        mac.update(Integer.toString(bytes.length).getBytes(StandardCharsets.US_ASCII));
        mac.update((byte) '\n');
        mac.update(bytes);
      }
      return HexFormat.of().formatHex(mac.doFinal());
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has " + ALGORITHM, e);
    }
  }
}
