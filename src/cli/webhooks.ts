import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { WEBHOOK_EVENTS } from '../core/webhook.ts'
import { CliError } from './cli-error.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote, printThing } from './output.ts'
import { addAct, addDelete, addList, addShow, changesOf, idOf } from './resource-verbs.ts'

type Webhook = Schemas['Webhook']

interface WebhookFlags {
  /** Sent as typed: the gateway decides which events exist. */
  readonly events?: Webhook['events']
  readonly url?: string
  readonly secret?: boolean
  readonly active?: boolean
}

const EVENTS = WEBHOOK_EVENTS.join(', ')

export function bindWebhooks(program: Command, context: CliContext): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks: addresses that receive events')

  addAct(webhooks, context, {
    name: 'create',
    argument: ['url', 'the address that events are sent to'],
    about: 'create a webhook; its secret is generated and printed once, unless --secret is given',
    examples: [
      'gatehouse webhooks create https://example.com/hook --events ' +
        'budget.threshold,budget.exhausted',
    ],
    options: (command) =>
      command
        .option('--events <names>', `with commas, of ${EVENTS} (required)`, parseEvents)
        .option('--secret', 'read the secret from standard input or a hidden prompt'),
    async toBody({ events, secret }: WebhookFlags, url) {
      if (events === undefined) throw new CliError('usage', `Give --events, of ${EVENTS}.`)
      return { url, events, secret: secret === true ? await readSecret('The secret') : undefined }
    },
    send: (client, _, body) => client.call('POST /v1/webhooks', 'id', { body }),
    show(made, isJson) {
      if (isJson) return printJson(made)
      if (made.secret === undefined) return show(made, false)
      printLine(made.secret)
      printNote(
        `Webhook ${made.id} created. The secret above is shown only this once: keep it safe.`,
      )
    },
  })

  addList(webhooks, context, {
    ask: 'GET /v1/webhooks',
    about: 'list the webhooks, newest first',
    examples: ['gatehouse webhooks list'],
    columns: {
      ID: (row) => row.id,
      ACTIVE: (row) => (row.active ? 'yes' : 'no'),
      URL: (row) => row.url,
    },
  })

  addShow(webhooks, context, {
    ask: 'GET /v1/webhooks/{id}',
    one: 'webhook',
    about: 'show one webhook',
    examples: ['gatehouse webhooks show wh_…'],
    show,
  })

  addAct(webhooks, context, {
    name: 'update',
    argument: ['id', idOf('webhook')],
    about: 'change a webhook; only the given options change',
    examples: ['gatehouse webhooks update wh_… --no-active'],
    options: (command) =>
      command
        .option('--url <address>', 'the new address')
        .option('--events <names>', `with commas, of ${EVENTS}`, parseEvents)
        .option('--secret', 'read a new secret from standard input or a hidden prompt')
        .option('--active', 'resume deliveries')
        .option('--no-active', 'pause deliveries'),
    async toBody({ url, events, active, secret }: WebhookFlags) {
      const given = secret === true ? await readSecret('The new secret') : undefined
      return changesOf({ url, events, active, secret: given })
    },
    send: (client, id, body) =>
      client.call('PATCH /v1/webhooks/{id}', 'id', { path: { id }, body }),
    show,
  })

  addAct(webhooks, context, {
    name: 'test',
    argument: ['id', idOf('webhook')],
    about: 'send an event webhook.test now, once',
    examples: ['gatehouse webhooks test wh_…'],
    toBody: () => undefined,
    send: (client, id) => client.call('POST /v1/webhooks/{id}/test', 'delivered', { path: { id } }),
    show(outcome, isJson) {
      if (isJson) return printJson(outcome)
      if (!outcome.delivered)
        throw new CliError('failed', `The event was not delivered: ${outcome.detail}.`)
      printLine(`Delivered: ${outcome.detail}.`)
    },
  })

  addDelete(webhooks, context, {
    ask: 'DELETE /v1/webhooks/{id}',
    one: 'webhook',
    about: 'delete a webhook and its pending deliveries',
    examples: ['gatehouse webhooks delete wh_… --yes'],
  })
}

function parseEvents(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

function show(webhook: Webhook, isJson: boolean): void {
  printThing(webhook, isJson, [
    ['id', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['active', webhook.active ? 'yes' : 'no'],
    ['created', formatTime(webhook.createdAt)],
  ])
}
