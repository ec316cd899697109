package firstlight.gpu.cuda;

/** The names of the files that the build makes of the kernels for one kind of GPU. */
record ImageNames(String architecture) {
  /** The machine code. */
  String image() {
    return "kernels-" + architecture + ".cubin";
  }

  /** The digest of the sources it is made of. */
  String digest() {
    return "kernels-" + architecture + ".digest";
  }

  /** What each kernel uses, for people. */
  String report() {
    return "kernels-" + architecture + ".txt";
  }
}
