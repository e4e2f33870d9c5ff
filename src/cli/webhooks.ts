/**
 * `gatehouse webhooks`: addresses that receive events. A secret comes from standard input or a
 * prompt, never from the command line.
 */
import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote, toPrintable } from './output.ts'
import { asJson, example, isEmptyChange, parseLimit, printListing } from './program-parts.ts'

type Webhook = Schemas['Webhook']

interface WebhookFlags {
  /** The user's own spelling: the gateway says which there are. */
  readonly events?: Webhook['events']
  readonly url?: string
  readonly secret?: boolean
  readonly active?: boolean
}

const EVENTS = 'budget.threshold, budget.exhausted, provider.degraded, store.set-back, redis.other'

export function bindWebhooks(program: Command, context: CliContext): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks: addresses that receive events')

  webhooks
    .command('create <url>')
    .description(
      'have an address told; its secret is generated and printed once, unless --secret is given',
    )
    .option('--events <names>', `with commas, of ${EVENTS}`, parseEvents)
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
        `Webhook ${made.id} was made. This is its secret, shown only this once: keep it safe.`,
      )
    })

  webhooks
    .command('list')
    .description('list the webhooks, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse webhooks list'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing = await withClient(context, (client) =>
        client.listAll('GET /v1/webhooks', limit),
      )
      printListing(listing, command, {
        columns: ['ID', 'ACTIVE', 'URL'],
        toRow: (row) => ({
          ID: row.id,
          ACTIVE: row.active ? 'yes' : 'no',
          URL: row.url,
        }),
      })
    })

  webhooks
    .command('show <id>')
    .description('show one webhook')
    .addHelpText('after', example('gatehouse webhooks show wh_…'))
    .action(async (id: string, _flags, command: Command) => {
      const webhook = await withClient(context, (client) =>
        client.call('GET /v1/webhooks/{id}', 'id', { path: { id } }),
      )
      show(webhook, asJson(command))
    })

  webhooks
    .command('update <id>')
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
    .command('test <id>')
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

  webhooks
    .command('delete <id>')
    .description('delete a webhook, with what is on its way to it')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse webhooks delete wh_… --yes'))
    .action(async (id: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the webhook ${id}`, flags.yes === true)
      await withClient(context, (client) =>
        client.remove('DELETE /v1/webhooks/{id}', { path: { id } }),
      )
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}

function parseEvents(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

function show(webhook: Webhook, isJson: boolean): void {
  if (isJson) {
    printJson(webhook)
    return
  }
  const fields: readonly (readonly [string, string])[] = [
    ['id', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['active', webhook.active ? 'yes' : 'no'],
    ['created', formatTime(webhook.createdAt)],
  ]
  for (const [name, value] of fields) printLine(`${name.padEnd(9)}${toPrintable(value)}`)
}
