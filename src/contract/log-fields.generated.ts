/** The fields of a call in the answers of the interface. Made from src/core/call-columns.ts by `make fmt`; edit the list. */
import { z } from 'zod'
import { attemptsBody, usageBody } from './call-parts.ts'
import { costBody } from './costs.ts'
import { ERROR_KINDS } from './error-kinds.ts'

export const logFields = {
  id: z.string().meta({ description: "The answer's `x-request-id`." }),
  keyId: z.string(),
  keyName: z.string().nullable().meta({ description: 'The name of the key, or of the member who used the playground; null: it has none any more.' }),
  gateId: z.string().meta({ description: '`(unknown)`: the call named no gate of the account.' }),
  sentGateId: z.string().nullable().meta({ description: 'What was sent as the gate’s id where no gate has it: 128 characters of it at most (`…`: it was longer), with those that no name has percent-encoded. `(looks like a key)` and `(not a name)` stand for what is not kept. In a row of several calls it is of the first. Null: the call named a gate, or nothing that could be read.', example: 'gpt-4o' }),
  dialect: z.string().meta({ example: 'openai-responses' }),
  stream: z.boolean(),
  target: z.string().nullable().meta({ description: '`provider/model` that answered or was tried last.' }),
  attempts: z.int().min(0).meta({ description: 'How often an upstream was asked.' }),
  outcome: z.enum(['succeeded', 'failed', 'cancelled']),
  status: z.int().meta({ description: 'The HTTP status the caller saw; 499: the caller left first.' }),
  errorKind: z.enum(ERROR_KINDS).nullable().meta({ description: 'Why it failed; null: it did not.' }),
  refusalCode: z.string().nullable().meta({ description: 'The code of the error with which the gateway itself refused the call, before any upstream was sent anything. Null: an upstream was asked, the call did not fail, or an older version wrote the row.', example: 'price_unknown' }),
  refusedBy: z.string().nullable().meta({ description: 'The limit that refused the call: the id of a budget, `monthly_tokens`, `monthly_spend`, `requests_per_minute`, `tokens_per_minute` or `concurrent_calls`. Null: no limit did, or an older version wrote the row.', example: 'bud_01a1fbc63aa470d6877cf556d6121edd' }),
  startedAt: z.iso.datetime(),
  firstByteMs: z.number().nullable(),
  durationMs: z.number(),
  usage: usageBody.nullable().meta({ description: 'The usage that the provider reported. The part that it could not report, because the caller left, is estimated: `cost.status` is `estimated` then. Null: nothing is known.' }),
  credential: z.enum(['own', 'platform']).nullable().meta({ description: "Whose credential `target` was asked with; `own`: the account's, which does not count for its quota. Null: none was asked, or an older version wrote the row." }),
  cost: costBody,
  refusals: z.int().min(1).nullable().meta({ description: 'The call was turned away before it was admitted. Of one key the first 30 such calls of a minute have rows of their own (1); those beyond are counted in one row for each reason. Null: it was admitted.' }),
  attemptDetails: attemptsBody.nullable().meta({ description: 'Each time that an upstream was asked; null: the first time was enough.' }),
}
