package firstlight.batcher;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.Time;
import org.jspecify.annotations.Nullable;

/**
 * Lets a Sequence in, or says at once why not and when it would be let in.
 *
 * <p>Let in is who finds room in the queue, in the whole and in its tenant's part, and whose first
 * token is predicted to be in time. While there are places booked for others of its tenant, one
 * without a booking is let in only when the wait is short: the rest of the queue is for those that
 * were told to come.
 */
final class Intake {
  /** A first token that is predicted this late in its time is likely to be in time. */
  private static final double CAUTION = 0.75;

  /** For one that comes back when it was told to. */
  private static final double CAUTION_BOOKED = 0.82;

  /** For one without a booking where others have some. */
  private static final double CAUTION_BESIDE_BOOKED = 0.4;

  private static final int BOOKINGS_MAX = 1 << 16;
  private static final long UNKNOWN_NANOS = 1_000_000_000L;
  private static final long WAIT_MIN_MILLIS = 10;

  private final SchedulerLimits limits;
  private final KvMemory kv;
  private final WaitingQueue waiting;
  private final TenantShares tenants;
  private final OutputLengths outputs;
  private final Forecast forecast;
  private final Drain drain;
  private final Time time;
  private final Bookings bookings = new Bookings(BOOKINGS_MAX);

  Intake(
      SchedulerLimits limits,
      KvMemory kv,
      WaitingQueue waiting,
      TenantShares tenants,
      OutputLengths outputs,
      Forecast forecast,
      Drain drain,
      Time time) {
    this.limits = limits;
    this.kv = kv;
    this.waiting = waiting;
    this.tenants = tenants;
    this.outputs = outputs;
    this.forecast = forecast;
    this.drain = drain;
    this.time = time;
  }

  /** Null: it was let in. */
  @Nullable MeshException submit(Sequence sequence) {
    GenerationSpec spec = sequence.spec();
    TenantShare share = tenants.arrived(spec.tenant());
    int fresh = sequence.length() - kv.found(sequence);
    int expected = outputs.expected(spec.tenant(), spec.outputMax());
    sequence.admitted(
        share,
        (int) Math.ceil(limits.shares().reservedOutput() * expected),
        fresh > limits.shares().longPromptTokens() && limits.runningMax() > 1,
        fresh);
    // One that moved was let in once already, and its client has waited enough.
    MeshException refusal =
        spec.moved() ? null : judge(sequence, forecast.firstToken(sequence, fresh));
    if (refusal == null) {
      waiting.add(sequence);
    } else {
      tenants.left(share);
    }
    return refusal;
  }

  private @Nullable MeshException judge(Sequence sequence, double predicted) {
    GenerationSpec spec = sequence.spec();
    long now = time.nanos();
    boolean booked = bookings.claim(spec.tenant(), Bookings.key(sequence), now);
    double caution =
        booked
            ? CAUTION_BOOKED
            : bookings.open(spec.tenant(), now) ? CAUTION_BESIDE_BOOKED : CAUTION;
    double late = predicted - caution * allowed(sequence);
    if (!waiting.hasRoomFor(sequence.length())) {
      return full(sequence, late);
    }
    if (!waiting.hasRoomFor(sequence.share(), sequence.length())) {
      return refusal(
          FailureKind.TENANT_LIMIT,
          "tenant_queue_full",
          "Too many of your requests are waiting already.",
          book(sequence, late));
    }
    return late > 0 && !isDue(spec) ? full(sequence, late) : null;
  }

  /**
   * Nobody is before it, so that later is no better; and without it costs that were learned from a
   * few slow Steps would never be learned anew.
   */
  private boolean isDue(GenerationSpec spec) {
    return spec.deadline() == 0 && forecast.idle();
  }

  private MeshException full(Sequence sequence, double late) {
    return refusal(
        FailureKind.OVERLOADED, "overloaded", "The service is full.", book(sequence, late));
  }

  /** It was let in, and yet its time has passed. */
  MeshException missed(Sequence sequence) {
    return refusal(
        FailureKind.OVERLOADED,
        "overloaded",
        "The service is too busy to answer in time.",
        book(sequence, 0));
  }

  /** Whether one without a deadline that began now would have its first token too late. */
  boolean isLate(Sequence sequence) {
    double waited = time.nanos() - sequence.arrivedNanos();
    // Before half of its time it cannot be; to know more takes a look at all that run.
    if (2 * waited < limits.firstTokenMax().toNanos()) {
      return false;
    }
    double work = work(sequence);
    return waited + work >= allowed(work);
  }

  /** Nanoseconds it has for its first token; a long prompt that finds nobody is never late. */
  private double allowed(Sequence sequence) {
    long deadline = sequence.spec().deadline();
    return deadline > 0 ? (deadline - time.epochMillis()) * 1e6 : allowed(work(sequence));
  }

  /** The same of one without a deadline, whose prompt takes so long alone. */
  private double allowed(double work) {
    return Math.max(limits.firstTokenMax().toNanos(), 2 * work);
  }

  /** Nanoseconds that its prompt takes alone. */
  private double work(Sequence sequence) {
    return sequence.toCompute() / forecast.rateAlone();
  }

  private long book(Sequence sequence, double late) {
    long now = time.nanos();
    double rate = drainRate();
    double work = Double.isInfinite(rate) ? UNKNOWN_NANOS : sequence.toCompute() / rate;
    long earliest = now + (Double.isInfinite(rate) ? UNKNOWN_NANOS : (long) Math.max(0, late));
    long due = bookings.book(sequence.spec().tenant(), Bookings.key(sequence), now, earliest, work);
    return Math.max(WAIT_MIN_MILLIS, (due - now + 999_999) / 1_000_000);
  }

  private static MeshException refusal(
      FailureKind kind, String code, String what, long retryAfterMillis) {
    String message = "%s Try again in %d seconds.".formatted(what, (retryAfterMillis + 999) / 1000);
    return new MeshException(kind, code, message, null, retryAfterMillis);
  }

  /** Prompt tokens a nanosecond; without end as long as nothing is known. */
  double drainRate() {
    return drain.rate(forecast.rateAlone());
  }

  int booked() {
    return bookings.size();
  }
}
