-- Which ids of feedback are taken, and by what, so that a repeat and a change are told apart on every edge. The
-- feedback itself is in the data lake.
CREATE TABLE feedback_ids (
  tenant   text    NOT NULL COLLATE "C",
  feedback text    NOT NULL COLLATE "C",
  digest   text    NOT NULL COLLATE "C",
  -- Whether it can not be lost any more.
  durable  boolean NOT NULL,
  -- Unix time, ms.
  taken    bigint  NOT NULL,
  PRIMARY KEY (tenant, feedback)
);
CREATE INDEX feedback_ids_by_age ON feedback_ids (taken);
