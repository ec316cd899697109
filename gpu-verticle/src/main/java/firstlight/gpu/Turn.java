package firstlight.gpu;

/**
 * One thread's part in a common piece of work.
 *
 * @param barrier where the threads wait for each other; all must pass it equally often
 */
record Turn(Share share, SpinBarrier barrier) {}
