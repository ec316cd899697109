package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GpuNeighboursTest {
  private static final long SEED = Long.getLong("seed", 1);
  private static final long MEMORY = 80L << 30;
  private static final long WEIGHTS = 8L << 30;
  private static final long ROUNDING = 16;

  private final GpuNeighbours gpu = new GpuNeighbours();
  private long free = MEMORY;

  private long open(KvShare share) {
    free -= WEIGHTS;
    long taken = share.of(free);
    free -= taken;
    share.taken();
    return taken;
  }

  private void close(KvShare share, long taken) {
    free += WEIGHTS + taken;
    share.left();
  }

  @Test
  void whoever_is_alone_has_all_but_the_reserve() {
    long taken = open(gpu.add(WEIGHTS));
    assertThat(taken).isEqualTo(KvShare.WHOLE.of(MEMORY - WEIGHTS));
  }

  @Test
  void all_get_the_same_and_leave_the_reserve_in_whatever_order_they_open_again() {
    Random random = new Random(SEED);
    List<KvShare> shares = IntStream.range(0, 3).mapToObj(_ -> gpu.add(WEIGHTS)).toList();
    double each = KvShare.WHOLE.of(MEMORY - 3 * WEIGHTS) / 3.0;
    long[] taken = shares.stream().mapToLong(this::open).toArray();
    for (int round = 0; round < 20; round++) {
      List<Integer> broken = new ArrayList<>(List.of(0, 1, 2));
      Collections.shuffle(broken, random);
      List<Integer> some = broken.subList(0, 1 + random.nextInt(3));
      some.forEach(i -> close(shares.get(i), taken[i]));
      some.forEach(i -> taken[i] = open(shares.get(i)));
      for (long one : taken) {
        assertThat((double) one).as("-Dseed=%d", SEED).isCloseTo(each, within((double) ROUNDING));
      }
    }
  }

  @Test
  void what_does_not_fit_beside_the_others_gets_nothing() {
    gpu.add(MEMORY);
    assertThat(open(gpu.add(WEIGHTS))).isNegative();
  }
}
