package firstlight.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * A conversation for a template that knows no calls: these become text of the assistant, results
 * text of the user, in the order of their calls.
 */
final class WrittenHistory {
  private final CallNotation notation;

  WrittenHistory(CallNotation notation) {
    this.notation = notation;
  }

  List<ChatMessage> of(List<ChatMessage> messages) {
    List<ChatMessage> written = new ArrayList<>();
    List<String> ids = List.of();
    for (int i = 0; i < messages.size(); i++) {
      ChatMessage message = messages.get(i);
      if (isResult(message)) {
        int end = endOfResults(messages, i);
        boolean userNext = end < messages.size() && messages.get(end).role().equals("user");
        String results = results(messages.subList(i, end), ids);
        // Many templates want user and assistant in turns.
        String text = userNext ? results + "\n" + messages.get(end).content() : results;
        written.add(new ChatMessage("user", text));
        i = userNext ? end : end - 1;
      } else if (message.toolCalls().isEmpty()) {
        written.add(message);
      } else {
        ids = message.toolCalls().stream().map(call -> String.valueOf(call.get("id"))).toList();
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

  private static boolean isResult(ChatMessage message) {
    return message.role().equals("tool") || message.role().equals("function");
  }

  private static int endOfResults(List<ChatMessage> messages, int from) {
    int end = from;
    while (end < messages.size() && isResult(messages.get(end))) {
      end++;
    }
    return end;
  }

  private String results(List<ChatMessage> results, List<String> ids) {
    List<ChatMessage> sorted = new ArrayList<>(results);
    sorted.sort(Comparator.comparingInt(result -> place(result, ids)));
    return String.join(
        "\n", sorted.stream().map(result -> notation.result(result.content())).toList());
  }

  private static int place(ChatMessage result, List<String> ids) {
    int place = result.toolCallId() == null ? -1 : ids.indexOf(result.toolCallId());
    return place < 0 ? ids.size() : place;
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
