package firstlight.edge;

import firstlight.protocol.ResponseId;

/**
 * Ids of the calls in an answer: a function of the Response and of where the call stands in it, so
 * that whoever makes the answer again gives the same ones.
 */
final class CallIds {
  private CallIds() {}

  /**
   * In the dialect of chat completions.
   *
   * @param choice which answer, from 0
   * @param index which call of that answer, from 0
   */
  static String chat(ResponseId response, int choice, int index) {
    return "call_%s_%d_%d".formatted(stem(response), choice, index);
  }

  /** In that of Messages, which has one answer. */
  static String message(ResponseId response, int index) {
    return "toolu_%s_%d".formatted(stem(response), index);
  }

  /**
   * In that of Open Responses.
   *
   * @param item where the call stands among the Items of the output
   */
  static String item(ResponseId response, int item) {
    return ResponseResource.itemId("call_", response, "_o" + item);
  }

  /** What follows the word for the kind of id. */
  private static String stem(ResponseId response) {
    String value = response.value();
    return value.substring(Math.max(value.lastIndexOf('-'), value.lastIndexOf('_')) + 1);
  }

  /** In the dialect of the request. */
  static String of(TurnRequest request, int choice, int index, int item) {
    return switch (request.origin().dialect()) {
      case "responses" -> item(request.response(), item);
      case MessagesReader.DIALECT -> message(request.response(), index);
      default -> chat(request.response(), choice, index);
    };
  }
}
