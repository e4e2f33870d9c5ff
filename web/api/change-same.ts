/** Changes a resource only if nobody else has changed the resource since the reader saw it. */
import {
  type AnswerOf,
  ApiError,
  type AskOptions,
  askTagged,
  askWith,
  type OperationName,
  type QuestionOf,
} from './ask.ts'

type ChangeName = Extract<OperationName, `PATCH ${string}}`>
/** The read operation at the same path. */
type ReadOf<Change> = Change extends `PATCH ${infer Path}`
  ? Extract<OperationName, `GET ${Path}`>
  : never

export class ChangedMeanwhile<Thing = unknown> extends Error {
  override readonly name = 'ChangedMeanwhile'
  readonly newest: Thing
  readonly last: { readonly by: string; readonly at: string } | undefined

  constructor(newest: Thing, last: ChangedMeanwhile['last']) {
    super('Another user or program changed this entry while you were editing.')
    this.newest = newest
    this.last = last
  }
}

const CHANGED_MEANWHILE = 412

/**
 * @param isSame whether the resource is as the reader has seen it; undefined overwrites in any case
 * @throws ChangedMeanwhile; ApiError as `ask` does
 */
export async function changeSame<Change extends ChangeName>(
  change: Change,
  [question]: Required<QuestionOf<Change>> & readonly [{ readonly path: object }],
  isSame: ((now: AnswerOf<ReadOf<Change>>) => boolean) | undefined,
): Promise<AnswerOf<Change>> {
  if (isSame === undefined) return await askWith(change, {}, question)
  const read = change.replace('PATCH', 'GET') as ReadOf<Change>
  const { path, body } = question as { readonly path: object; readonly body: object }
  const { answer: now, etag } = await askTagged(read, {}, { path })
  // An earlier attempt may have succeeded although its answer was lost.
  if (!isSame(now) && !holds(now, body)) throw await tellChange(path, now)
  const options: AskOptions = etag === undefined ? {} : { ifMatch: etag }
  try {
    return await askWith(change, options, question)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === CHANGED_MEANWHILE)) throw error
    throw await tellChange(path, await askWith(read, {}, { path }))
  }
}

function holds(now: object, body: object): boolean {
  const members = new Map<string, unknown>(Object.entries(now))
  return Object.entries(body).every(
    ([member, value]) => JSON.stringify(members.get(member)) === JSON.stringify(value),
  )
}

async function tellChange<Thing>(path: object, newest: Thing): Promise<ChangedMeanwhile<Thing>> {
  const [resourceId] = Object.values(path)
  const query = { resourceId: String(resourceId), limit: 1 }
  const entries = await askWith('GET /v1/audit-log', {}, { query }).catch(() => undefined)
  const entry = entries?.data[0]
  const last = entry && { by: entry.actor.name ?? entry.actor.id, at: entry.at }
  return new ChangedMeanwhile(newest, last)
}
