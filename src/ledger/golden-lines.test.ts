/**
 * Journals outlive builds: the lines of these records are, byte for byte, what released builds
 * write. They never change.
 */
import { expect, test } from 'bun:test'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import { decodeRecordLine, encodeRecordLine } from './record-line.ts'

const least: CallRecord = {
  id: 'req_0000000000000001' as CallId,
  accountId: 'acc_default' as AccountId,
  keyId: 'key_1' as KeyId,
  gateId: 'support' as GateId,
  dialect: 'openai-responses',
  stream: true,
  target: null,
  attempts: 0,
  outcome: 'cancelled',
  status: 499,
  errorKind: null,
  startedAt: 1_790_000_000_000,
  firstByteMs: null,
  durationMs: 900,
  usage: null,
  credential: null,
}
const counts = { inputTokens: 12, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 }
const asked = {
  ...least,
  target: 'owned/modèle "x"',
  attempts: 2,
  outcome: 'failed',
  status: 502,
  errorKind: 'upstream_error',
  firstByteMs: 120,
  usage: counts,
  credential: 'own',
} as const satisfies CallRecord
const priced = {
  ...asked,
  usage: { ...counts, cacheWriteTokens: 4 },
  cost: { nanoUsd: 77, status: 'estimated', source: 'prices@1' },
} as const satisfies CallRecord
const attemptDetails = [
  { target: 'p/m', status: null, afterMs: 0, durationMs: 40 },
  { target: 'owned/m', status: 502, afterMs: 41, durationMs: 800 },
]
const unpriced = { nanoUsd: null, status: 'unknown', source: null } as const

test.each<[string, CallRecord, string]>([
  [
    'the least',
    least,
    'fa63ec3b [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null]\n',
  ],
  [
    'asked',
    asked,
    '993920ac [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1],"own"]\n',
  ],
  [
    'priced',
    priced,
    'b97204f1 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1,4],"own",[77,"estimated","prices@1"]]\n',
  ],
  [
    'of several attempts',
    { ...priced, cost: unpriced, attemptDetails },
    '3fc7179b [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1,4],"own",[null,"unknown",null],[["p/m",null,0,40],["owned/m",502,41,800]]]\n',
  ],
  [
    'turned away',
    { ...least, refusals: 7 },
    'e5b6dd47 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,7]\n',
  ],
  [
    'turned away after attempts',
    { ...asked, attemptDetails, refusals: 1 },
    '3ee083a7 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1],"own",null,[["p/m",null,0,40],["owned/m",502,41,800]],1]\n',
  ],
  [
    'named no gate',
    { ...least, sentGateId: 'gpt-4o%20…' },
    '11433529 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,null,"gpt-4o%20…"]\n',
  ],
  [
    'turned away, named no gate',
    { ...least, refusals: 2, sentGateId: 'x' },
    'b6e76bca [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,2,"x"]\n',
  ],
  [
    'everything',
    { ...priced, attemptDetails, refusals: 3, sentGateId: '(not a name)' },
    'c78a221e [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1,4],"own",[77,"estimated","prices@1"],[["p/m",null,0,40],["owned/m",502,41,800]],3,"(not a name)"]\n',
  ],
  [
    'refused by the gateway itself',
    { ...least, refusalCode: 'price_unknown' },
    'cd7a4c75 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,null,null,"price_unknown"]\n',
  ],
  [
    'refused by the gateway itself, which cost nothing',
    { ...least, refusalCode: 'price_unknown', cost: { ...priced.cost, nanoUsd: 0 } },
    '04ddc8d1 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,[0,"estimated","prices@1"],null,null,null,"price_unknown"]\n',
  ],
  [
    'refused by a budget',
    { ...least, refusedBy: 'bud_1' },
    'b25f42d2 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,null,null,null,"bud_1"]\n',
  ],
  [
    'attributed',
    { ...least, user: 'user_1', session: 's1', agent: 'a1', parentAgent: 'a0', tags: 't1 t2' },
    'd49b9416 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,null,0,"cancelled",499,null,1790000000000,null,900,null,null,null,null,null,null,null,null,"user_1","s1","a1","a0","t1 t2"]\n',
  ],
  [
    'of estimated usage',
    { ...priced, isUsageEstimated: true },
    '2574292f [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1,4],"own",[77,"estimated","prices@1"],null,null,null,null,null,null,null,null,null,null,true]\n',
  ],
  [
    'failed, with the reason of each attempt',
    {
      ...priced,
      attemptDetails: [
        {
          target: 'p/m',
          status: null,
          afterMs: 0,
          durationMs: 40,
          failure: { kind: 'upstream_error', code: 'connect_failed' },
        },
        {
          target: 'owned/m',
          status: 502,
          afterMs: 41,
          durationMs: 800,
          failure: { kind: 'upstream_error', code: null },
        },
      ],
    },
    '3ef99132 [10,"req_0000000000000001","acc_default","key_1","support","openai-responses",true,"owned/modèle \\"x\\"",2,"failed",502,"upstream_error",1790000000000,120,900,[12,5,2,1,4],"own",[77,"estimated","prices@1"],[["p/m",null,0,40,"upstream_error","connect_failed"],["owned/m",502,41,800,"upstream_error",null]]]\n',
  ],
])('the line of a call that is %s', (_name, record, line) => {
  expect(encodeRecordLine(record)).toBe(line)
  expect(decodeRecordLine(new TextEncoder().encode(line.slice(0, -1)))).toEqual(record)
})
