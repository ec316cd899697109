package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchesTest {
  @ParameterizedTest
  @CsvSource({"80000,5000", "10000000,100000", "1,100", "100001,7", "0,5"})
  void every_partition_has_whole_batches(long wanted, int mostRows) {
    Batches batches = Batches.of(wanted, mostRows);

    assertThat(batches.rowsMax()).isBetween(1, mostRows);
    assertThat(batches.events() % (EventServices.PARTITIONS * batches.rowsMax())).isZero();
    assertThat(batches.events())
        .isBetween(wanted, wanted + EventServices.PARTITIONS * (long) mostRows + wanted / 10);
  }
}
