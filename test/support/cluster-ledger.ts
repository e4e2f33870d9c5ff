/** Reads a cluster's ledger from Postgres, and checks that all counters agree. */
import { askControlPlane, type Cluster, type ClusterNode } from './cluster.ts'
import type { SeenCall } from './cluster-load.ts'
import { pollUntil } from './poll-until.ts'

export interface LedgerRow {
  readonly id: string
  readonly outcome: string
  readonly status: number
  readonly tokens: number
}

export async function readLedger(
  cluster: Pick<Cluster, 'query'>,
): Promise<ReadonlyMap<string, LedgerRow>> {
  const rows = await cluster.query<Record<keyof LedgerRow, string>>(
    `SELECT id, outcome, status, coalesce(input_tokens, 0) + coalesce(output_tokens, 0) AS tokens FROM calls WHERE refusals IS NULL`,
  )
  return new Map(
    rows.map(({ id, outcome, status, tokens }) => [
      id,
      { id, outcome, status: Number(status), tokens: Number(tokens) },
    ]),
  )
}

export interface LedgerSums {
  readonly calls: number
  readonly tokens: number
}

export function sumRows(rows: Iterable<LedgerRow>): LedgerSums {
  let calls = 0
  let tokens = 0
  for (const row of rows) {
    calls += 1
    tokens += row.tokens
  }
  return { calls, tokens }
}

export async function readUsage(node: Pick<ClusterNode, 'url' | 'key'>): Promise<LedgerSums> {
  const to = new Date(Date.now() + 3_600_000).toISOString()
  const from = new Date(Date.now() - 86_400_000).toISOString()
  const { data } = await askControlPlane<{
    data: { calls: number; tokens: { input: number; output: number } }[]
  }>(node, 'GET', `/v1/analytics?from=${from}&to=${to}&interval=hour`)
  return {
    calls: data.reduce((sum, { calls }) => sum + calls, 0),
    tokens: data.reduce((sum, { tokens }) => sum + tokens.input + tokens.output, 0),
  }
}

export async function readQuotaUsed(node: Pick<ClusterNode, 'url' | 'key'>): Promise<number> {
  const { quota } = await askControlPlane<{ quota: { tokens: { used: number } } }>(
    node,
    'GET',
    '/v1/account',
  )
  return quota.tokens.used
}

export interface Missing {
  readonly id: string
  readonly why: 'no row' | 'another outcome' | 'other tokens'
}

export function findMissing(
  calls: readonly SeenCall[],
  rows: ReadonlyMap<string, LedgerRow>,
): readonly Missing[] {
  const missing: Missing[] = []
  for (const { id, isComplete, tokens } of calls) {
    if (!isComplete || id === undefined) continue
    const row = rows.get(id)
    if (row === undefined) missing.push({ id, why: 'no row' })
    else if (row.outcome !== 'succeeded') missing.push({ id, why: 'another outcome' })
    else if (row.tokens !== tokens) missing.push({ id, why: 'other tokens' })
  }
  return missing
}

/** Waits until hourly sums, quota and budget agree with the rows on every node. */
export async function expectCountedOnce(
  cluster: Pick<Cluster, 'nodes'>,
  rows: ReadonlyMap<string, LedgerRow>,
  budgetId: string,
): Promise<void> {
  const ofRows = sumRows(rows.values())
  let said = ''
  const isAgreed = async (node: ClusterNode): Promise<boolean> => {
    const sums = await readUsage(node)
    const quota = await readQuotaUsed(node)
    const budget = await askControlPlane<{ used: { tokens: number } }>(
      node,
      'GET',
      `/v1/budgets/${budgetId}`,
    )
    said = `node ${node.index}: sums ${sums.calls} calls and ${sums.tokens} tokens, quota ${quota}, budget ${budget.used.tokens}`
    return (
      sums.calls === ofRows.calls &&
      [sums.tokens, quota, budget.used.tokens].every((tokens) => tokens === ofRows.tokens)
    )
  }
  const tryAgreed = (node: ClusterNode) =>
    isAgreed(node).catch((error: unknown) => {
      said = `node ${node.index}: ${error}`
      return false
    })
  for (const node of cluster.nodes) {
    await pollUntil('sums that agree', () => tryAgreed(node), {
      timeoutMs: 60_000,
      intervalMs: 500,
    }).catch(() => {
      throw new Error(`rows: ${ofRows.calls} calls and ${ofRows.tokens} tokens; ${said}`)
    })
  }
}
