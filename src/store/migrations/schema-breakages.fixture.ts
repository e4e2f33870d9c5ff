/**
 * What a step of the schema's history has done that a build which does not know it would notice.
 * Reads catalogues, and no row.
 */
import { type Kysely, sql } from 'kysely'
import { currentSchema, isSqlite } from '../database/sql-differences.ts'

interface Column {
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
}

interface Rule {
  /** `unique`, `foreign key`, `check`, `trigger`. */
  readonly kind: string
  readonly table: string
  readonly columns: readonly string[]
  /** Tells it from others of its kind, whatever its name is. */
  readonly text: string
}

export interface SchemaShape {
  /** By table, then by column. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Column>>
  readonly rules: readonly Rule[]
}

export async function readShape(database: Kysely<never>): Promise<SchemaShape> {
  const schema = await currentSchema(database)
  const found = await database.introspection.getTables()
  const tables = new Map(
    found
      .filter((table) => table.schema === schema)
      .map(({ name, columns }) => [
        name,
        new Map(
          columns.map((column) => [
            column.name,
            {
              type: column.dataType,
              isNullable: column.isNullable,
              hasDefault: column.hasDefaultValue || column.isAutoIncrementing,
            },
          ]),
        ),
      ]),
  )
  const rules = isSqlite(database)
    ? await readSqliteRules(database, [...tables.keys()])
    : await readPostgresRules(database)
  return { tables, rules }
}

async function readSqliteRules(
  database: Kysely<never>,
  tables: readonly string[],
): Promise<Rule[]> {
  const rules: Rule[] = []
  for (const table of tables) {
    const { rows: indexes } = await sql<{ name: string; text: string | null }>`
      SELECT list.name AS name, sqlite_master.sql AS text FROM pragma_index_list(${table}) AS list
      LEFT JOIN sqlite_master ON sqlite_master.name = list.name WHERE list."unique" = 1`.execute(
      database,
    )
    for (const { name, text } of indexes) {
      const { rows } = await sql<{
        name: string
      }>`SELECT name FROM pragma_index_info(${name})`.execute(database)
      const columns = rows.map((row) => row.name)
      const condition = / where .*/i.exec(text ?? '')?.[0] ?? ''
      rules.push({ kind: 'unique', table, columns, text: `(${columns.join(', ')})${condition}` })
    }
    const { rows: keys } = await sql<{
      from: string
      table: string
      to: string
    }>`SELECT * FROM pragma_foreign_key_list(${table})`.execute(database)
    for (const key of keys)
      rules.push({
        kind: 'foreign key',
        table,
        columns: [key.from],
        text: `(${key.from}) of ${key.table}.${key.to}`,
      })
  }
  const { rows: triggers } = await sql<{ table: string; text: string }>`
    SELECT tbl_name AS "table", sql AS text FROM sqlite_master WHERE type = 'trigger'`.execute(
    database,
  )
  return [...rules, ...triggers.map((trigger) => ({ ...trigger, kind: 'trigger', columns: [] }))]
}

async function readPostgresRules(database: Kysely<never>): Promise<Rule[]> {
  const { rows: indexes } = await sql<{ table: string; columns: string; text: string }>`
    SELECT c.relname AS "table", regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', '') AS text,
      (SELECT string_agg(a.attname, ',') FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey)) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace`.execute(database)
  const { rows: constraints } = await sql<{
    kind: string
    table: string
    columns: string
    text: string
  }>`
    SELECT CASE k.contype WHEN 'f' THEN 'foreign key' ELSE 'check' END AS kind, c.relname AS "table",
      pg_get_constraintdef(k.oid) AS text,
      (SELECT string_agg(a.attname, ',') FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (k.conkey)) AS columns
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype IN ('f', 'c', 'x') AND c.relnamespace = current_schema()::regnamespace`.execute(
    database,
  )
  const { rows: triggers } = await sql<{ table: string; text: string }>`
    SELECT c.relname AS "table", pg_get_triggerdef(t.oid) AS text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace`.execute(database)
  return [
    ...indexes.map((index) => ({ ...index, kind: 'unique' })),
    ...constraints,
    ...triggers.map((trigger) => ({ ...trigger, kind: 'trigger', columns: '' })),
  ].map((rule) => ({
    ...rule,
    columns: (rule.columns ?? '').split(',').filter((name) => name !== ''),
  }))
}

/** A sentence for each; none where the step only adds. */
export function findBreakages(before: SchemaShape, after: SchemaShape): string[] {
  const found: string[] = []
  for (const [table, columns] of before.tables) {
    const now = after.tables.get(table)
    if (now === undefined) found.push(`${table} is gone`)
    else found.push(...findInColumns(table, columns, now))
  }
  const isIn = (rules: readonly Rule[], rule: Rule) =>
    rules.some(
      (each) => each.kind === rule.kind && each.table === rule.table && each.text === rule.text,
    )
  // Inserts name it: ON CONFLICT.
  for (const rule of before.rules)
    if (rule.kind === 'unique' && after.tables.has(rule.table) && !isIn(after.rules, rule))
      found.push(`${rule.table} is no longer unique by ${rule.text}`)
  for (const rule of after.rules) {
    const columns = before.tables.get(rule.table)
    if (columns === undefined || isIn(before.rules, rule)) continue
    // An older build leaves such a column null, which no rule minds.
    const now = after.tables.get(rule.table)
    const isOfNewColumn = rule.columns.some(
      (name) => !columns.has(name) && isLeftNull(now?.get(name)),
    )
    if (!isOfNewColumn) found.push(`${rule.table} has a new ${rule.kind}: ${rule.text}`)
  }
  return found
}

function isLeftNull(column: Column | undefined): boolean {
  return column?.isNullable === true && !column.hasDefault
}

function findInColumns(
  table: string,
  before: ReadonlyMap<string, Column>,
  after: ReadonlyMap<string, Column>,
): string[] {
  const found: string[] = []
  for (const [name, column] of before) {
    const now = after.get(name)
    if (now === undefined) {
      found.push(`${table}.${name} is gone`)
      continue
    }
    if (now.type !== column.type)
      found.push(`${table}.${name} was ${column.type} and is ${now.type}`)
    if (column.isNullable && !now.isNullable) found.push(`${table}.${name} may no longer be null`)
    if (column.hasDefault && !now.hasDefault) found.push(`${table}.${name} has lost its default`)
  }
  for (const [name, column] of after)
    if (!before.has(name) && !column.isNullable && !column.hasDefault)
      found.push(`${table}.${name} is new and has to be given`)
  return found
}
