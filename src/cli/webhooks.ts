/**
 * `gatehouse webhooks`: addresses that receive events. A secret comes from standard input or a
 * prompt, never from the command line.
 */
import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote, printThing } from './output.ts'
import { asJson, example, isEmptyChange } from './program-parts.ts'
import { addDelete, addList, addShow, idOf } from './resource-verbs.ts'

type Webhook = Schemas['Webhook']

interface WebhookFlags {
  /** The user's own spelling: the gateway says which there are. */
  readonly events?: Webhook['events']
  readonly url?: string
  readonly secret?: boolean
  readonly active?: boolean
}

const EVENTS =
  'budget.threshold, budget.exhausted, provider.degraded, target.unusable, store.set-back, redis.other'

export function bindWebhooks(program: Command, context: CliContext): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks: addresses that receive events')

  webhooks
    .command('create')
    .argument('<url>', 'the address that events are sent to')
    .description(
      'create a webhook; its secret is generated and printed once, unless --secret is given',
    )
    .option('--events <names>', `with commas, of ${EVENTS} (required)`, parseEvents)
    .option('--secret', 'read the secret from standard input or a hidden prompt')
    .addHelpText(
      'after',
      example(
        'gatehouse webhooks create https://example.com/hook --events ' +
          'budget.threshold,budget.exhausted',
      ),
    )
    .action(async (url: string, flags: WebhookFlags, command: Command) => {
      const { events } = flags
      if (events === undefined) throw new CliError('usage', `Give --events, of ${EVENTS}.`)
      const secret = flags.secret === true ? await readSecret('The secret') : undefined
      const made = await withClient(context, (client) =>
        client.call('POST /v1/webhooks', 'id', { body: { url, events, secret } }),
      )
      if (asJson(command)) return printJson(made)
      if (made.secret === undefined) return show(made, false)
      printLine(made.secret)
      printNote(
        `Webhook ${made.id} created. This is its secret, shown only this once: keep it safe.`,
      )
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

  webhooks
    .command('update')
    .argument('<id>', idOf('webhook'))
    .description('change a webhook; what is not given stays as it is')
    .option('--url <address>', 'where to')
    .option('--events <names>', `with commas, of ${EVENTS}`, parseEvents)
    .option('--secret', 'read a new secret from standard input or a hidden prompt')
    .option('--active', 'send again')
    .option('--no-active', 'send nothing')
    .addHelpText('after', example('gatehouse webhooks update wh_… --no-active'))
    .action(async (id: string, flags: WebhookFlags, command: Command) => {
      const { url, events, active } = flags
      const secret = flags.secret === true ? await readSecret('The new secret') : undefined
      if (isEmptyChange({ url, events, active, secret }))
        throw new CliError('usage', 'There is nothing to change: give at least one option.')
      const webhook = await withClient(context, (client) =>
        client.call('PATCH /v1/webhooks/{id}', 'id', {
          path: { id },
          body: { url, events, active, secret },
        }),
      )
      show(webhook, asJson(command))
    })

  webhooks
    .command('test')
    .argument('<id>', idOf('webhook'))
    .description('send an event webhook.test now, once')
    .addHelpText('after', example('gatehouse webhooks test wh_…'))
    .action(async (id: string, _flags, command: Command) => {
      const outcome = await withClient(context, (client) =>
        client.call('POST /v1/webhooks/{id}/test', 'delivered', { path: { id } }),
      )
      if (!outcome.delivered && !asJson(command))
        throw new CliError('failed', `It was not delivered: ${outcome.detail}.`)
      if (asJson(command)) printJson(outcome)
      else printLine(`Delivered: ${outcome.detail}.`)
    })

  addDelete(webhooks, context, {
    ask: 'DELETE /v1/webhooks/{id}',
    one: 'webhook',
    about: 'delete a webhook, with what is on its way to it',
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
