package firstlight.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A conversation for a template that knows no calls: these become text of the assistant, results
 * text of the user.
 */
final class WrittenHistory {
  private final CallNotation notation;

  WrittenHistory(CallNotation notation) {
    this.notation = notation;
  }

  List<ChatMessage> of(List<ChatMessage> messages) {
    List<ChatMessage> written = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      ChatMessage message = messages.get(i);
      if (ResultOrder.isResult(message)) {
        int end = ResultOrder.endOfResults(messages, i);
        boolean userNext = end < messages.size() && messages.get(end).role().equals("user");
        String results = results(messages.subList(i, end));
        // Many templates want user and assistant in turns.
        String text = userNext ? results + "\n" + messages.get(end).content() : results;
        written.add(new ChatMessage("user", text));
        i = userNext ? end : end - 1;
      } else if (message.toolCalls().isEmpty()) {
        written.add(message);
      } else {
        written.add(withCalls(message));
      }
    }
    return written;
  }

  /** With the instructions in the system's first message. */
  static List<ChatMessage> instructed(List<ChatMessage> messages, String instructions) {
    List<ChatMessage> told = new ArrayList<>(messages);
    ChatMessage first = told.isEmpty() ? null : told.getFirst();
    if (first != null && (first.role().equals("system") || first.role().equals("developer"))) {
      String text = first.content().isEmpty() ? "" : first.content() + "\n\n";
      told.set(0, new ChatMessage(first.role(), text + instructions));
    } else {
      told.addFirst(new ChatMessage("system", instructions));
    }
    return told;
  }

  private String results(List<ChatMessage> results) {
    return String.join(
        "\n", results.stream().map(result -> notation.result(result.content())).toList());
  }

  private ChatMessage withCalls(ChatMessage message) {
    List<CallNotation.WrittenCall> calls = new ArrayList<>();
    for (Map<String, Object> call : message.toolCalls()) {
      Object function = call.get("function");
      if (function instanceof Map<?, ?> map) {
        Object arguments = map.get("arguments");
        calls.add(
            new CallNotation.WrittenCall(
                String.valueOf(map.get("name")), arguments == null ? Map.of() : arguments));
      }
    }
    String text = message.content().isEmpty() ? "" : message.content() + "\n";
    return new ChatMessage(message.role(), text + notation.written(calls));
  }
}
