package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class KafkaToolTest {
  @Test
  void the_producer_tool_says_its_rate_in_its_last_line() {
    assertThat(
            KafkaTool.produced(
                List.of(
                    "WARN something",
                    "24001 records sent, 4800.2 records/sec (16.31 MB/sec), 5.0 ms avg latency,"
                        + " 90.0 ms max latency.",
                    "80000 records sent, 9955.201593 records/sec (33.86 MB/sec), 4.29 ms avg"
                        + " latency, 380.00 ms max latency, 2 ms 50th, 14 ms 95th, 44 ms 99th,"
                        + " 77 ms 99.9th.")))
        .isEqualTo(9955.201593);
  }

  @Test
  void the_consumer_tool_says_its_rate_in_the_sixth_column() {
    assertThat(
            KafkaTool.consumed(
                List.of(
                    "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg,"
                        + " nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec,"
                        + " fetch.nMsg.sec",
                    "2026-12-01 03:57:22:101, 2026-12-01 03:57:23:533, 66.6998, 46.5781, 16000,"
                        + " 11173.1844, 603, 829, 80.4582, 19300.3619")))
        .isEqualTo(11173.1844);
  }

  @Test
  void what_says_no_rate_is_told() {
    assertThatThrownBy(() -> KafkaTool.produced(List.of("no"))).isInstanceOf(BenchFailure.class);
    assertThatThrownBy(() -> KafkaTool.consumed(List.of("no"))).isInstanceOf(BenchFailure.class);
  }
}
