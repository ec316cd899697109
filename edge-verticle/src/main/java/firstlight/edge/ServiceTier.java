package firstlight.edge;

import firstlight.protocol.Priority;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** OpenAI's {@code service_tier}: how urgent a request is. */
enum ServiceTier {
  AUTO(Priority.NORMAL),
  DEFAULT(Priority.NORMAL),
  FLEX(Priority.LOW),
  PRIORITY(Priority.HIGH);

  private static final String FIELD = "service_tier";

  private final Priority priority;

  ServiceTier(Priority priority) {
    this.priority = priority;
  }

  /** Reads the field; empty without it. */
  static Optional<ServiceTier> read(Fields fields) {
    Optional<String> given = fields.text(FIELD);
    return given.map(
        word ->
            Arrays.stream(values())
                .filter(tier -> tier.word().equals(word))
                .findFirst()
                .orElseThrow(
                    () ->
                        fields.refused(
                            FIELD,
                            "must be one of "
                                + Arrays.stream(values())
                                    .map(ServiceTier::word)
                                    .collect(Collectors.joining(", ")))));
  }

  Priority priority() {
    return priority;
  }

  /** What an answer calls the tier it was served in: auto is no tier of its own. */
  String served() {
    return this == AUTO ? DEFAULT.word() : word();
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
