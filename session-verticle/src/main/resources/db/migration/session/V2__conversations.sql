-- One row a conversation. Its Items are in turns of its own, from the head back along the parents;
-- only the head moves, and only from the value that its mover saw.
CREATE TABLE conversations (
  tenant       text    NOT NULL COLLATE "C",
  conversation text    NOT NULL COLLATE "C",
  -- Unix time, ms.
  created      bigint  NOT NULL,
  metadata     text    NOT NULL,
  -- NULL: it has no Items yet.
  head         text    COLLATE "C",
  -- Of the turns from the head back, so that none becomes too long to be read.
  turns        integer NOT NULL DEFAULT 0,
  characters   bigint  NOT NULL DEFAULT 0,
  home_region  text    NOT NULL DEFAULT 'local',
  PRIMARY KEY (tenant, conversation)
);

-- Items that are no longer shown. Rows are added, and deleted with their conversation.
CREATE TABLE conversation_removals (
  tenant       text NOT NULL COLLATE "C",
  conversation text NOT NULL COLLATE "C",
  item         text NOT NULL COLLATE "C",
  PRIMARY KEY (tenant, conversation, item)
);

-- Whose turn it is; NULL: it is a Response.
ALTER TABLE turns ADD COLUMN conversation text COLLATE "C";
CREATE INDEX turns_of_conversation ON turns (tenant, conversation) WHERE conversation IS NOT NULL;
