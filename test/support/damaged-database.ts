/**
 * Servers with a damaged database, which makes the gateway itself fail (500) with a valid request
 * and a healthy upstream.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { createGate } from './control-plane.ts'
import { type Gatehouse, type GatehouseOptions, startGatehouse } from './start-gatehouse.ts'

export const DAMAGED_GATE = 'damaged'

export async function startWithDamagedGate(
  options: Pick<GatehouseOptions, 'sandbox' | 'environment'> = {},
): Promise<Gatehouse> {
  const intact = await startGatehouse({ sandbox: true })
  await createGate(intact, DAMAGED_GATE, 'sandbox/echo')
  await intact.stop()
  runSql(
    intact.dataFolder,
    `update gates set targets = '[{"model":7}]' where id = '${DAMAGED_GATE}'`,
  )
  const damaged = await startGatehouse({
    ...options,
    dataFolder: intact.dataFolder,
    key: intact.key,
  })
  return {
    ...damaged,
    remove: async () => {
      await damaged.remove()
      await intact.remove()
    },
  }
}

export async function whileTableIsGone<Result>(
  { dataFolder }: Pick<Gatehouse, 'dataFolder'>,
  table: string,
  work: () => Promise<Result>,
): Promise<Result> {
  runSql(dataFolder, `alter table ${table} rename to ${table}_gone`)
  try {
    return await work()
  } finally {
    runSql(dataFolder, `alter table ${table}_gone rename to ${table}`)
  }
}

function runSql(dataFolder: string, statement: string): void {
  const database = new Database(join(dataFolder, 'gatehouse.db'))
  try {
    database.run('pragma busy_timeout = 5000')
    database.run(statement)
  } finally {
    database.close()
  }
}
