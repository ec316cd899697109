package firstlight.model;

import java.util.Arrays;

/** A heap of longs, smallest first, without boxes. */
final class LongHeap {
  private long[] heap;
  private int size;

  LongHeap(int expected) {
    heap = new long[Math.max(4, expected)];
  }

  boolean isEmpty() {
    return size == 0;
  }

  void add(long value) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    int at = size++;
    while (at > 0 && heap[(at - 1) / 2] > value) {
      heap[at] = heap[(at - 1) / 2];
      at = (at - 1) / 2;
    }
    heap[at] = value;
  }

  long poll() {
    long first = heap[0];
    long last = heap[--size];
    int at = 0;
    for (int child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1] < heap[child]) {
        child++;
      }
      if (heap[child] >= last) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
