package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void columns_stand_below_each_other() {
    Table table = new Table("figure", "ours");
    table.row("prefill 512", "1,500");
    assertThat(table.toString())
        .isEqualTo(
            """
            | figure      | ours  |
            |-------------|-------|
            | prefill 512 | 1,500 |
            """);
  }

  @Test
  void a_row_has_as_many_cells_as_the_head() {
    assertThatThrownBy(() -> new Table("a", "b").row("c"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
