/** Restores the rows of a Postgres database after a test. */
import type pg from 'pg'

export interface KnownState {
  readonly schema: string
  readonly restore: string
}

/** A line for everything in the schema that a test could change. */
const DESCRIBE = `
  SELECT coalesce(string_agg(line, E'\\n' ORDER BY line), '') AS schema FROM (
    SELECT format('%s %s', oid::regclass, relkind) AS line FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('%s.%s %s %s %s', attrelid::regclass, attname, atttypid::regtype, attnotnull, atthasdef)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
    UNION ALL
    SELECT format('%s on %s %s', tgname, tgrelid::regclass, tgenabled) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT format('%s on %s', conname, conrelid::regclass) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('%s()', proname) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  ) AS described`

export async function describeSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string }>(DESCRIBE)
  return rows[0]?.schema ?? ''
}

export async function readKnownState(client: pg.Client): Promise<KnownState> {
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1",
  )
  const kept: string[] = []
  const statements: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ held: string | null }>(
      `SELECT json_agg(each)::text AS held FROM ${name} AS each`,
    )
    const held = rows[0]?.held
    if (held == null) continue
    kept.push(name)
    const values = client.escapeLiteral(held)
    statements.push(
      `DELETE FROM ${name}`,
      `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${values})`,
    )
  }
  const { rows: sequences } = await client.query<{ text: string }>(
    'SELECT format($$SELECT setval(%L, %s, %L)$$, seqrelid::regclass, coalesce(pg_sequence_last_value(seqrelid), seqstart), pg_sequence_last_value(seqrelid) IS NOT NULL) AS text FROM pg_sequence',
  )
  return {
    schema: await describeSchema(client),
    restore: [
      'BEGIN',
      // Triggers and foreign keys ignore the statements that follow.
      'SET LOCAL session_replication_role = replica',
      emptyAllBut(kept, client),
      ...statements,
      ...sequences.map(({ text }) => text),
      'COMMIT',
    ].join(';\n'),
  }
}

/** A table without pages was never written to, so most tables need no statement. */
function emptyAllBut(kept: readonly string[], client: pg.Client): string {
  const others = `ARRAY[${kept.map((name) => client.escapeLiteral(name)).join(', ')}]::text[]`
  return `
    DO $restore$
    DECLARE filled text;
    BEGIN
      SELECT string_agg(oid::regclass::text, ', ') INTO filled FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
        AND oid::regclass::text <> ALL (${others});
      IF filled IS NOT NULL THEN EXECUTE 'TRUNCATE ' || filled || ' CASCADE'; END IF;
    END
    $restore$`
}
