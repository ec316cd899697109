-- One row a stored Response. Rows are added and deleted, never changed.
-- text, not jsonb: a turn must come back byte for byte, and jsonb refuses the escape \u0000,
-- which a model or a client may well write.
CREATE TABLE turns (
  tenant        text    NOT NULL COLLATE "C",
  response      text    NOT NULL COLLATE "C",
  -- No foreign key: a parent may be deleted, or arrive later from another region.
  parent        text    COLLATE "C",
  -- Unix time, ms.
  created       bigint  NOT NULL,
  model         text    NOT NULL,
  status        text    NOT NULL,
  input         text    NOT NULL,
  output        text    NOT NULL,
  resource      text    NOT NULL,
  prompt_tokens integer NOT NULL,
  cached_tokens integer NOT NULL,
  output_tokens integer NOT NULL,
  -- Of input, output and resource together, so that a chain can be measured without reading them.
  characters    integer NOT NULL,
  home_region   text    NOT NULL DEFAULT 'local',
  PRIMARY KEY (tenant, response)
);
