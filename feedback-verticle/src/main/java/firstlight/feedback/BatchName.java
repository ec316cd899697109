package firstlight.feedback;

/**
 * What a batch is called: where on Kafka it begins.
 *
 * @param topicId Kafka's own id of the topic, so that a topic made anew is another
 */
record BatchName(String topicId, String topic, int partition, long first) {
  private String stem() {
    return "%s-%d-%020d".formatted(topic, partition, first);
  }

  /** The name of a file of this batch in the lake. */
  String file(LakeFolder folder) {
    return folder.path() + stem() + ".parquet";
  }

  /** The name for the case that the first one is taken by another content. */
  String otherFile(LakeFolder folder, String digest) {
    return folder.path() + stem() + "-" + digest.substring(0, 16) + ".parquet";
  }

  /** The name of the object that says where this batch ends. */
  String cut() {
    return "_cuts/%s/%s".formatted(topicId, stem());
  }
}
