/** Call records for the ledger's tests. Must not be imported outside tests. */
import type { CallRecord } from '../core/call.ts'
import type { CallBatch } from '../core/call-batch.ts'
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { LINE_VERSION } from './call-line.ts'
import type { Journal } from './journal.ts'
import { SegmentReader } from './segment-reader.ts'

export function createCallRecord(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: createCallId(),
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'support' as GateId,
    dialect: 'openai-responses',
    stream: true,
    target: 'openai/gpt-5',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: 1_790_000_000_000,
    firstByteMs: 120,
    durationMs: 900,
    usage: { inputTokens: 12, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 },
    credential: 'platform',
    ...changes,
  }
}

/** All of a batch, in its order. */
export function recordsIn(batch: CallBatch): CallRecord[] {
  return Array.from({ length: batch.length }, (_, index) => batch.read(index))
}

/** A whole line, of the version after this build's. */
export function createLaterLine(): string {
  return createLineOf(LINE_VERSION + 1)
}

/** A whole line, of the version before this build's. */
export function createEarlierLine(): string {
  return createLineOf(LINE_VERSION - 1)
}

function createLineOf(version: number): string {
  const json = JSON.stringify([version, { id: 'req_1' }])
  return `${Bun.hash.crc32(json).toString(16).padStart(8, '0')} ${json}\n`
}

/** Every record in the segments that a journal holds closed, and how many lines were damaged. */
export async function readClosed(
  journal: Journal,
): Promise<{ records: CallRecord[]; damagedLines: number }> {
  const records: CallRecord[] = []
  let damagedLines = 0
  for (const segment of journal.closed.list()) {
    const reader = new SegmentReader(segment.path)
    for await (const found of reader.records()) records.push(...found)
    damagedLines += reader.damage.damagedLines
  }
  return { records, damagedLines }
}
