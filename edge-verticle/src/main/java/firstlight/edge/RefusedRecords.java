package firstlight.edge;

import firstlight.protocol.wire.Event;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;

/**
 * What Kafka does not take as it is. It gets less of it each time: the Event without detail, then
 * without texts, then nothing. For one thread, but for {@link #note}.
 */
final class RefusedRecords {
  private final Map<Long, Step> steps = new HashMap<>();
  private final AtomicReference<@Nullable Refusal> latest = new AtomicReference<>();

  /** How much of an Event is sent. */
  private enum Step {
    WITHOUT_DETAIL,
    WITHOUT_TEXT,
    TOO_LARGE,
    INVALID
  }

  private record Refusal(long position, boolean tooLarge) {}

  /** A send has failed, on whatever thread. Only some failures are the record's own. */
  void note(long position, Exception failure) {
    boolean tooLarge = failure instanceof RecordTooLargeException;
    if (tooLarge
        || failure instanceof InvalidRecordException
        || failure instanceof InvalidTimestampException) {
      latest.compareAndSet(null, new Refusal(position, tooLarge));
    }
  }

  /** Whether a record was refused that is not learnt yet. */
  boolean isNew() {
    return latest.get() != null;
  }

  /** From now on less is sent of what was refused. */
  void learn() {
    Refusal refusal = latest.getAndSet(null);
    if (refusal != null) {
      steps.compute(refusal.position(), (_, before) -> next(before, refusal.tooLarge()));
    }
  }

  /** What is to be sent of it; null: nothing. */
  @Nullable Event fitting(SpooledEvent event) {
    Step step = steps.get(event.position());
    return step == null
        ? event.event()
        : switch (step) {
          case WITHOUT_DETAIL -> cut(event.event(), EventRecords.Cut.DETAIL);
          case WITHOUT_TEXT -> cut(event.event(), EventRecords.Cut.TEXT);
          case TOO_LARGE, INVALID -> null;
        };
  }

  /** Counts what became of it, now that this is settled. */
  void count(SpooledEvent event, SpoolMetrics metrics) {
    Step step = steps.remove(event.position());
    String kind = EventRecords.kind(event.event());
    if (step == Step.TOO_LARGE) {
      metrics.lost(kind, "too_large");
    } else if (step == Step.INVALID) {
      metrics.lost(kind, "refused");
    } else {
      metrics.sent(kind);
      EventRecords.Cut cut = step == null ? event.lost() : cut(step);
      if (cut != null) {
        metrics.shortened(cut.word());
      }
    }
  }

  private static Step next(@Nullable Step before, boolean tooLarge) {
    if (!tooLarge) {
      return Step.INVALID;
    }
    if (before == null) {
      return Step.WITHOUT_DETAIL;
    }
    return before == Step.WITHOUT_DETAIL ? Step.WITHOUT_TEXT : Step.TOO_LARGE;
  }

  private static EventRecords.Cut cut(Step step) {
    return step == Step.WITHOUT_DETAIL ? EventRecords.Cut.DETAIL : EventRecords.Cut.TEXT;
  }

  private static Event cut(Event event, EventRecords.Cut what) {
    Event.Builder less = event.toBuilder();
    if (event.hasToolCall() && what == EventRecords.Cut.TEXT) {
      less.getToolCallBuilder().clearArguments();
    }
    if (event.hasResponse()) {
      less.setResponse(EventRecords.withoutDetail(event.getResponse()).setShortened(what.word()));
      if (what == EventRecords.Cut.TEXT) {
        less.getResponseBuilder().clearInput().clearOutput();
      }
    }
    return less.build();
  }
}
