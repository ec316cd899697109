package firstlight.model;

import java.util.Map;
import java.util.TreeSet;

/** The values of {@code format} that are kept to, as regular expressions. */
final class SchemaFormats {
  private static final String YEAR = "[0-9]{4}";
  private static final String DATE =
      "(%1$s-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|%1$s-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
              .formatted(YEAR)
          + "|%s-02-(0[1-9]|1[0-9]|2[0-8]))".formatted(YEAR);
  private static final String TIME =
      "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?"
          // The specification allows more, but many readers refuse what is beyond 18 hours.
          + "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])";
  private static final String LABEL = "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?";
  private static final String HOST = LABEL + "(\\." + LABEL + "){0,4}";
  private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final String GROUP = "[0-9a-f]{1,4}";

  private static final Map<String, String> FORMATS =
      Map.ofEntries(
          Map.entry("date", DATE),
          Map.entry("time", TIME),
          Map.entry("date-time", DATE + "T" + TIME),
          Map.entry(
              "duration",
              "P([0-9]{1,4}W|[0-9]{1,4}D(T[0-9]{1,4}H)?|[0-9]{1,4}Y([0-9]{1,4}M)?|T([0-9]{1,4}H"
                  + "([0-9]{1,4}M)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S))"),
          Map.entry(
              "email", "[a-z0-9_-]{1,20}(\\.[a-z0-9_-]{1,20}){0,2}@" + LABEL + "\\.[a-z]{2,8}"),
          Map.entry("hostname", HOST),
          Map.entry("ipv4", BYTE + "(\\." + BYTE + "){3}"),
          Map.entry("ipv6", GROUP + "(:" + GROUP + "){7}"),
          Map.entry("uri", "https?://" + HOST + "(/[A-Za-z0-9._~-]{0,30}){0,6}"),
          Map.entry("uuid", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));

  private SchemaFormats() {}

  static GrammarNode node(SchemaNode schema) {
    Object format = schema.get("format");
    String expression = format instanceof String name ? FORMATS.get(name) : null;
    if (expression == null) {
      throw schema.wrong(
          "format must be one of " + String.join(", ", new TreeSet<>(FORMATS.keySet())));
    }
    return RegexParser.whole(expression);
  }
}
