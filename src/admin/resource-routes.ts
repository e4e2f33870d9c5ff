/**
 * The five routes of a resource that is described: list, create, show, change, delete. The handlers
 * are handed in; a resource's own file binds its other routes. Knows no resource.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../contract/lists.ts'
import type { ResourceDescription } from '../contract/resource-description.ts'
import type { AccountId } from '../core/ids.ts'
import { type ControlPlaneApp, callerOf, errorAnswers, jsonContent } from './control-plane-app.ts'
import type { OperationExample } from './openapi/openapi-examples.ts'
import { decodeCursor, isAfter, type Position, toPage } from './paging.ts'
import { refuseProblems } from './refusals.ts'

/**
 * What a route says of itself beyond OpenAPI's own members; it is taken out of the document when
 * that is completed.
 */
export interface RouteDescription {
  readonly example?: OperationExample
  readonly groupDescription?: string
}

export const ROUTE_DESCRIPTION = 'x-described'

/** What is done about each request, when all that the description says of it has been checked. */
export interface ResourceActions<
  Row extends { readonly id: string; readonly createdAt: number },
  Description extends ResourceDescription,
> {
  /** Newest first. */
  list(accountId: AccountId): readonly Row[]
  /** @throws GatewayError `not_found` */
  get(accountId: AccountId, id: string): Row
  create(
    accountId: AccountId,
    body: z.output<Description['create']>,
  ): Promise<z.input<Description['created']>>
  update(accountId: AccountId, id: string, body: z.output<Description['update']>): Promise<Row>
  delete(accountId: AccountId, id: string): Promise<void>
  toBody(row: Row): z.input<Description['body']>
  /** What has to be there before some rows are shown. */
  beforeShowing?(accountId: AccountId, rows: readonly Row[]): Promise<void> | undefined
}

const params = z.object({ id: z.string() })

export function bindResource<
  Row extends { readonly id: string; readonly createdAt: number },
  Description extends ResourceDescription,
>(
  app: ControlPlaneApp,
  description: Description,
  actions: ResourceActions<Row, Description>,
): void {
  const routes = routesOf(description)

  app.openapi(routes.list, async (c) => {
    const { accountId } = callerOf(c.env)
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = actions.list(accountId).filter((row) => isAfter(toPosition(row), after))
    const page = toPage(rows, limit, toPosition)
    await actions.beforeShowing?.(accountId, page.items)
    const data = page.items.map((row) => actions.toBody(row))
    return c.json({ data, nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    routes.create,
    async (c) => {
      const body = c.req.valid('json') as z.output<Description['create']>
      return c.json(await actions.create(callerOf(c.env).accountId, body), 201)
    },
    refuseProblems(description.notes.create),
  )

  app.openapi(routes.show, async (c) => {
    const { accountId } = callerOf(c.env)
    const { id } = c.req.valid('param')
    await actions.beforeShowing?.(accountId, [actions.get(accountId, id)])
    return c.json(actions.toBody(actions.get(accountId, id)), 200)
  })

  app.openapi(
    routes.update,
    async (c) => {
      const { accountId } = callerOf(c.env)
      const body = c.req.valid('json') as z.output<Description['update']>
      return c.json(
        actions.toBody(await actions.update(accountId, c.req.valid('param').id, body)),
        200,
      )
    },
    refuseProblems(description.notes.update),
  )

  app.openapi(routes.delete, async (c) => {
    await actions.delete(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.body(null, 204)
  })
}

function routesOf(description: ResourceDescription) {
  const { name, names, one, many, path, group, summaries, examples } = description
  const tags = [group]
  const { groupDescription } = description
  const said = (example?: OperationExample) => ({
    [ROUTE_DESCRIPTION]: {
      ...(example === undefined ? {} : { example }),
      ...(groupDescription === undefined ? {} : { groupDescription }),
    } satisfies RouteDescription,
  })
  const ofOne: OperationExample = {
    parameters: { id: examples.id },
    ...(examples.isGiven === true
      ? {}
      : { after: { operationId: `create${name}`, parameters: { id: '$response.body#/id' } } }),
  }
  return {
    list: createRoute({
      method: 'get',
      path,
      operationId: `list${names}`,
      summary: summaries.list,
      tags,
      request: { query: pageQuery },
      responses: { 200: jsonContent(description.list, `A page of ${many}.`), ...errorAnswers(400) },
      ...said(),
    }),
    create: createRoute({
      method: 'post',
      path,
      operationId: `create${name}`,
      summary: summaries.create,
      tags,
      request: {
        query: noQuery,
        body: { ...jsonContent(description.create, `The new ${one}.`), required: true },
      },
      responses: {
        201: jsonContent(description.created, `The ${one}.`),
        ...errorAnswers(400, 409, 413),
      },
      ...said({ bodies: examples.create }),
    }),
    show: createRoute({
      method: 'get',
      path: `${path}/{id}`,
      operationId: `get${name}`,
      summary: summaries.show,
      tags,
      request: { params, query: noQuery },
      responses: { 200: jsonContent(description.body, `The ${one}.`), ...errorAnswers(404) },
      ...said(ofOne),
    }),
    update: createRoute({
      method: 'patch',
      path: `${path}/{id}`,
      operationId: `update${name}`,
      summary: summaries.update,
      tags,
      request: {
        params,
        query: noQuery,
        body: { ...jsonContent(description.update, 'What changes.'), required: true },
      },
      responses: {
        200: jsonContent(description.body, `The changed ${one}.`),
        ...errorAnswers(400, 404, 413),
      },
      ...said({ ...ofOne, bodies: examples.update }),
    }),
    delete: createRoute({
      method: 'delete',
      path: `${path}/{id}`,
      operationId: `delete${name}`,
      summary: summaries.delete,
      tags,
      request: { params, query: noQuery },
      responses: { 204: { description: 'It is gone.' }, ...errorAnswers(404) },
      ...said(ofOne),
    }),
  }
}

function toPosition(row: { readonly id: string; readonly createdAt: number }): Position {
  return { at: row.createdAt, id: row.id }
}
