/**
 * The usual routes of a described resource: list, create, show, change and delete. The handlers are
 * passed in; a resource's own file binds its other routes.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../contract/lists.ts'
import type { PlainResource } from '../contract/plain-resources.ts'
import { describePlain } from '../contract/plain-schemas.ts'
import type { Problem } from '../contract/problems.ts'
import type { OperationWords, ResourceDescription, Verb } from '../contract/resource-description.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { ResourceWord } from '../core/resource-table.ts'
import { toVersionTag } from '../core/version-tag.ts'
import type { PlainRegistry, SettingsOf } from '../snapshots/plain-registry.ts'
import { changedMeanwhile, isMet, withPrecondition } from '../store/changes/precondition.ts'
import type { PlainThing } from '../store/resources/plain-kinds.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneBindings,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from './control-plane-app.ts'
import type { OperationExample } from './openapi/openapi-examples.ts'
import { decodeCursor, isAfter, type Position, toPage } from './paging.ts'
import { refuse, refuseProblems } from './refusals.ts'
import { findMembers } from './resources/find-members.ts'

export interface RouteDescription {
  readonly example?: OperationExample
  readonly groupDescription?: string
  readonly isVersioned?: boolean
  /**
   * Whether the request changes a single resource, so that `if-match` may name the version to
   * change.
   */
  readonly takesVersion?: boolean
}

export const ROUTE_DESCRIPTION = 'x-described'

export interface ListPart {
  readonly limit: number
  readonly before?: Position
}

interface Dated {
  readonly createdAt: number
}

type Given<Description, Member extends string> = Description extends {
  readonly [M in Member]: infer Schema extends z.ZodType
}
  ? z.output<Schema>
  : never
type Answer<Description extends ResourceDescription, Member extends string> = Description extends {
  readonly [M in Member]: infer Schema extends z.ZodType
}
  ? z.input<Schema>
  : z.input<Description['body']>

interface EachAction<Row extends Dated, Description extends ResourceDescription> {
  list(
    accountId: AccountId,
    part: ListPart,
    filters: Given<Description, 'filters'>,
  ): readonly Row[] | Promise<readonly Row[]>
  create(
    accountId: AccountId,
    body: Given<Description, 'create'>,
    bindings: ControlPlaneBindings,
  ): Promise<Answer<Description, 'created'>>
  show(accountId: AccountId, id: string): Row | Promise<Row>
  update(
    accountId: AccountId,
    id: string,
    body: Given<Description, 'update'>,
    caller: ControlPlaneCaller,
  ): Promise<Answer<Description, 'updated'>>
  delete(
    accountId: AccountId,
    id: string,
    caller: ControlPlaneCaller,
  ): Promise<
    Description extends { readonly deleted: z.ZodType } ? Given<Description, 'deleted'> : void
  >
}

export type ResourceActions<Row extends Dated, Description extends ResourceDescription> = Pick<
  EachAction<Row, Description>,
  keyof Description['operations'] & Verb
> & {
  readonly word: ResourceWord
  idOf(row: Row): string
  toBody(row: Row, caller: ControlPlaneCaller): z.input<Description['body']>
  beforeShowing?(accountId: AccountId, rows: readonly Row[]): Promise<void> | undefined
  /** Binds other routes before the routes of a single resource, whose path might match theirs. */
  bindOthers?(): void
}

export function bindResource<Row extends Dated, Description extends ResourceDescription>(
  app: ControlPlaneApp,
  description: Description,
  actions: ResourceActions<Row, Description>,
): void {
  const {
    list,
    create,
    show,
    update,
    delete: remove,
  }: Partial<EachAction<Row, Description>> = actions
  const { word, idOf, toBody, beforeShowing, bindOthers } = actions
  const routes = routesOf(description)
  const parameter = description.parameter?.name ?? 'id'
  const idIn = (params: Readonly<Record<string, string>>) => params[parameter] ?? ''
  const tag = (body: unknown) => tagged(word, body as object)
  const toPosition = (row: Row): Position => ({ at: row.createdAt, id: idOf(row) })

  if (list !== undefined)
    app.openapi(routes.list, async (c) => {
      const caller = callerOf(c.env)
      const { accountId } = caller
      const { limit, cursor, ...filters } = c.req.valid('query')
      const before = decodeCursor(cursor)
      const part = { limit: limit + 1, ...(before === undefined ? {} : { before }) }
      const rows = await list(accountId, part, filters as Given<Description, 'filters'>)
      const rest = rows.filter((row) => isAfter(toPosition(row), before))
      const page = toPage(rest, limit, toPosition)
      await beforeShowing?.(accountId, page.items)
      const data = page.items.map((row) => toBody(row, caller))
      return c.json({ data, nextCursor: page.nextCursor }, 200)
    })

  if (create !== undefined)
    app.openapi(
      routes.create,
      async (c) => {
        const body = c.req.valid('json') as Given<Description, 'create'>
        const created = await create(callerOf(c.env).accountId, body, c.env)
        return c.json(created, 201, tag(created))
      },
      refuseProblems(description.notes?.create),
    )

  bindOthers?.()

  if (show !== undefined)
    app.openapi(routes.show, async (c) => {
      const caller = callerOf(c.env)
      const { accountId } = caller
      const id = idIn(c.req.valid('param'))
      const row = await show(accountId, id)
      const ready = beforeShowing?.(accountId, [row])
      await ready
      const body = toBody(ready === undefined ? row : await show(accountId, id), caller)
      return c.json(body, 200, tag(body))
    })

  if (update !== undefined)
    app.openapi(
      routes.update,
      async (c) => {
        const caller = callerOf(c.env)
        const body = c.req.valid('json') as Given<Description, 'update'>
        const id = idIn(c.req.valid('param'))
        const updated = await ifMatched(c.env, { word, id }, async () => {
          return (await update(caller.accountId, id, body, caller)) as object
        })
        return c.json(updated, 200, tag(updated))
      },
      refuseProblems(description.notes?.update),
    )

  if (remove !== undefined)
    app.openapi(routes.delete, async (c) => {
      const caller = callerOf(c.env)
      const id = idIn(c.req.valid('param'))
      const answer = await ifMatched(c.env, { word, id }, async () =>
        remove(caller.accountId, id, caller),
      )
      return description.deleted === undefined ? c.body(null, 204) : c.json(answer as object, 200)
    })
}

function routesOf(description: ResourceDescription) {
  const { name, names, one, many, path, group, groupDescription, examples, body } = description
  const parameter = description.parameter ?? { name: 'id', schema: z.string() }
  const params = z.object({ [parameter.name]: parameter.schema })
  const pathOfOne = `${path}/{${parameter.name}}`
  const wordsOf = (verb: Verb) => toWords(description.operations[verb])
  const head = (verb: Verb, operation: string) => {
    const { summary, description: text, isForUsers } = wordsOf(verb)
    return {
      operationId: `${operation}${verb === 'list' ? names : name}`,
      summary,
      ...(text === undefined ? {} : { description: text }),
      tags: [group],
      ...(isForUsers === true ? { security: [{ session: [] }] } : {}),
    }
  }
  const said = (verb: Verb, example?: OperationExample) => ({
    [ROUTE_DESCRIPTION]: {
      isVersioned: verb !== 'list' && verb !== 'delete',
      takesVersion: verb === 'update' || verb === 'delete',
      ...(example === undefined ? {} : { example }),
      ...(groupDescription === undefined ? {} : { groupDescription }),
    } satisfies RouteDescription,
  })
  const bodies = (verb: 'create' | 'update') =>
    examples?.[verb] === undefined ? {} : { bodies: examples[verb] }
  const ofOne = examples && {
    parameters: { [parameter.name]: examples.id },
    ...(examples.isGiven === true
      ? {}
      : {
          after: {
            operationId: `create${name}`,
            parameters: { [parameter.name]: '$response.body#/id' },
          },
        }),
  }
  const errors = (verb: Verb, ...statuses: readonly (400 | 404 | 409 | 413)[]) =>
    errorAnswers(...statuses, ...(wordsOf(verb).refusals ?? []))

  const query = pageQuery.extend(description.filters?.shape ?? {}) as typeof pageQuery
  return {
    list: createRoute({
      method: 'get',
      path,
      ...head('list', 'list'),
      request: { query },
      responses: {
        200: jsonContent(description.list, wordsOf('list').answers ?? `A page of ${many}.`),
        ...errors('list', 400),
      },
      ...said('list'),
    }),
    create: createRoute({
      method: 'post',
      path,
      ...head('create', 'create'),
      request: jsonRequest(
        description.create ?? z.never(),
        wordsOf('create').takes ?? `The new ${one}.`,
      ),
      responses: {
        201: jsonContent(description.created ?? body, wordsOf('create').answers ?? `The ${one}.`),
        ...errors('create', 400, 409, 413),
      },
      ...said('create', examples && bodies('create')),
    }),
    show: createRoute({
      method: 'get',
      path: pathOfOne,
      ...head('show', 'get'),
      request: { params, query: noQuery },
      responses: {
        200: jsonContent(body, wordsOf('show').answers ?? `The ${one}.`),
        ...errors('show', 404),
      },
      ...said('show', ofOne),
    }),
    update: createRoute({
      method: 'patch',
      path: pathOfOne,
      ...head('update', 'update'),
      request: {
        params,
        ...jsonRequest(
          description.update ?? z.never(),
          wordsOf('update').takes ?? 'The members to change.',
        ),
      },
      responses: {
        200: jsonContent(
          description.updated ?? body,
          wordsOf('update').answers ?? `The changed ${one}.`,
        ),
        ...errors('update', 400, 404, 413),
      },
      ...said('update', ofOne && { ...ofOne, ...bodies('update') }),
    }),
    delete: createRoute({
      method: 'delete',
      path: pathOfOne,
      ...head('delete', 'delete'),
      request: { params, query: noQuery },
      responses: {
        ...(description.deleted === undefined
          ? { 204: { description: wordsOf('delete').answers ?? 'It is deleted.' } }
          : {
              200: jsonContent(description.deleted, wordsOf('delete').answers ?? 'It is deleted.'),
            }),
        ...errors('delete', 404),
      },
      ...said('delete', ofOne),
    }),
  }
}

function toWords(words: string | OperationWords = ''): OperationWords {
  return typeof words === 'string' ? { summary: words } : words
}

export function plainResource(word: string, resource: PlainResource) {
  return (app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void => {
    const { plain } = dependencies
    const withMembers = (accountId: AccountId, body: object, before: object = {}) =>
      findListed(dependencies, accountId, { lists: resource.lists ?? {}, body, before })
    const registries: Readonly<Record<string, PlainRegistry<PlainThing>>> = plain
    const registry = registries[word]
    // Unreachable, because a test checks each plain resource.
    if (registry === undefined) throw new Error(`there is no registry of ${word}`)
    bindResource(app, describePlain(resource), {
      word: registry.word,
      list: (accountId) => registry.list(accountId),
      show: (accountId, id) => registry.get(accountId, id),
      async create(accountId, body) {
        const settings = await withMembers(accountId, body)
        return registry.toPublic(await registry.create(accountId, settings))
      },
      async update(accountId, id, body) {
        const settings = await withMembers(accountId, body, registry.get(accountId, id))
        return registry.toPublic(await registry.update(accountId, id, settings))
      },
      delete: (accountId, id) => registry.delete(accountId, id),
      idOf: ({ id }) => id,
      toBody: (thing) => registry.toPublic(thing),
    })
  }
}

/**
 * With the ids of the listed members. A member who has left may stay in a list.
 * @throws GatewayError `invalid_request` (rejects) naming each unknown member
 */
async function findListed(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  given: { readonly lists: object; readonly body: object; readonly before: object },
): Promise<SettingsOf<PlainThing>> {
  const body: Record<string, unknown> = { ...given.body }
  const before: Readonly<Record<string, unknown>> = { ...given.before }
  for (const list of Object.keys(given.lists)) {
    const texts = body[list] as readonly string[] | undefined
    if (texts === undefined) continue
    const known = (before[list] ?? []) as readonly string[]
    const found = await findMembers(dependencies, accountId, texts)
    const ids = texts.map((text, place) => found[place]?.member?.userId ?? text)
    const problems = ids.flatMap((id, place): readonly Problem[] => {
      const { problem } = found[place] ?? {}
      const field = `${list}[${place}]`
      if (problem !== undefined && !known.includes(id))
        return [{ field, message: `'${id}' ${problem}` }]
      const first = ids.indexOf(id)
      return first === place
        ? []
        : [{ field, message: `'${texts[place]}' is the same member as ${list}[${first}]` }]
    })
    if (problems.length > 0) throw refuse(problems)
    body[list] = ids
  }
  return body as SettingsOf<PlainThing>
}

// Versions in HTTP: an ETag on an answer with a single resource, and If-Match on its changes.

export function tagged(word: ResourceWord, body: object): { readonly etag: string } {
  return { etag: toVersionTag(word, { ...body }) }
}

/**
 * Runs `work`, which changes or deletes this resource, only if the request names no version or the
 * current version.
 * @returns the result of `work`: the resource afterwards, or nothing
 * @throws GatewayError `precondition_failed`
 */
export async function ifMatched<Body>(
  { request }: ControlPlaneBindings,
  { word, id }: { readonly word: ResourceWord; readonly id: string },
  work: () => Promise<Body>,
): Promise<Body> {
  const versions = readIfMatch(request.headers.get('if-match'))
  if (versions === undefined) return await work()
  const condition = { word, id, versions }
  const { result, wasLookedAt } = await withPrecondition(condition, work)
  // Without a change no transaction has checked the condition, so it is checked here.
  if (!wasLookedAt && isThing(result) && !isMet(condition, tagged(word, result).etag))
    throw changedMeanwhile(word)
  return result
}

function isThing(result: unknown): result is object {
  return typeof result === 'object' && result !== null
}

/** A weak tag is accepted unchanged, because compressing proxies make strong tags weak. */
const TAG = /(?:W\/)?("[\x21\x23-\x7e]*")/g
const SEPARATORS = /[\s,]/g

function readIfMatch(header: string | null): 'any' | readonly string[] | undefined {
  if (header === null) return undefined
  if (header.trim() === '*') return 'any'
  const tags = header.length > MOST_CHARACTERS ? [] : [...header.matchAll(TAG)]
  const isOfTags = header.replace(TAG, '').replace(SEPARATORS, '') === ''
  if (tags.length === 0 || !isOfTags)
    throw new GatewayError(
      'invalid_request',
      'If-Match: must be * or the ETag of an earlier answer, in its quotes',
      { param: 'If-Match' },
    )
  return tags.map(([, tag = '']) => tag)
}

const MOST_CHARACTERS = 1_000
