/**
 * Calls for the tests of the log and of what is made from it. Must not be imported outside tests.
 */
import type { CallRecord } from '../../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'

export function loggedCall(id: string, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: id as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'demo' as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'openai/gpt-5',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: Date.parse('2026-01-01T00:00:00.123Z'),
    firstByteMs: 5,
    durationMs: 9,
    usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
    cost: { nanoUsd: 3_000, status: 'exact', source: 'test@1' },
    ...changes,
  }
}
