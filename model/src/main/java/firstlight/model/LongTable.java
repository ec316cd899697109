package firstlight.model;

import java.util.Arrays;

/** A hash table from long to a non-negative int, without boxes. Filled once, then only read. */
final class LongTable {
  static final int NONE = -1;

  private long[] keys;
  private int[] values;
  private int size;

  LongTable(int expected) {
    int capacity = Integer.highestOneBit(Math.max(8, expected) * 2 - 1) * 2;
    keys = new long[capacity];
    values = filled(capacity);
  }

  /** Sets the value unless the key has one already; gives the value the key has now. */
  int putIfAbsent(long key, int value) {
    int slot = slot(key);
    if (values[slot] != NONE) {
      return values[slot];
    }
    keys[slot] = key;
    values[slot] = value;
    if (++size * 2 > keys.length) {
      grow();
    }
    return value;
  }

  /** The value, or {@link #NONE}. */
  int get(long key) {
    return values[slot(key)];
  }

  private int slot(long key) {
    int mask = keys.length - 1;
    int slot = (int) (key * 0x9E3779B97F4A7C15L >>> 32) & mask;
    while (values[slot] != NONE && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    keys = new long[oldKeys.length * 2];
    values = filled(keys.length);
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != NONE) {
        int slot = slot(oldKeys[i]);
        keys[slot] = oldKeys[i];
        values[slot] = oldValues[i];
      }
    }
  }

  private static int[] filled(int capacity) {
    int[] values = new int[capacity];
    Arrays.fill(values, NONE);
    return values;
  }
}
