package firstlight.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Puts the results of calls in the order of their calls: clients give them in any order, and many
 * templates show no ids. A result without a call comes after the others.
 */
final class ResultOrder {
  private ResultOrder() {}

  static List<ChatMessage> of(List<ChatMessage> messages) {
    List<ChatMessage> ordered = new ArrayList<>(messages);
    List<String> ids = List.of();
    for (int i = 0; i < ordered.size(); i++) {
      ChatMessage message = ordered.get(i);
      if (isResult(message)) {
        int end = endOfResults(ordered, i);
        List<String> calls = ids;
        ordered.subList(i, end).sort(Comparator.comparingInt(result -> place(result, calls)));
        i = end - 1;
      } else if (!message.toolCalls().isEmpty()) {
        ids = message.toolCalls().stream().map(call -> String.valueOf(call.get("id"))).toList();
      }
    }
    return ordered;
  }

  static boolean isResult(ChatMessage message) {
    return message.role().equals("tool") || message.role().equals("function");
  }

  /** The place behind the results that stand from there on. */
  static int endOfResults(List<ChatMessage> messages, int from) {
    int end = from;
    while (end < messages.size() && isResult(messages.get(end))) {
      end++;
    }
    return end;
  }

  private static int place(ChatMessage result, List<String> ids) {
    int place = result.toolCallId() == null ? -1 : ids.indexOf(result.toolCallId());
    return place < 0 ? ids.size() : place;
  }
}
