/** `gatehouse webhooks`: addresses that are told of events. A secret comes from standard input or a prompt, never from the command line. */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote, toPrintable } from './output.ts'
import { asJson, example, parseLimit, printListing } from './program-parts.ts'

interface WebhookFlags {
  readonly events?: readonly string[]
  readonly url?: string
  readonly secret?: boolean
  readonly active?: boolean
}

const EVENTS = 'budget.threshold, budget.exhausted, provider.degraded'

export function bindWebhooks(program: Command, context: CliContext): void {
  const webhooks = program.command('webhooks').description('webhooks: addresses that are told of events')

  webhooks
    .command('create <url>')
    .description('have an address told; its secret is generated and printed once, unless --secret is given')
    .option('--events <names>', `with commas, of ${EVENTS}`, parseEvents)
    .option('--secret', 'read the secret from standard input or a hidden prompt')
    .addHelpText(
      'after',
      example(
        'gatehouse webhooks create https://example.com/hook --events budget.threshold,budget.exhausted',
      ),
    )
    .action(async (url: string, flags: WebhookFlags, command: Command) => {
      if (flags.events === undefined) throw new CliError('usage', `Give --events, of ${EVENTS}.`)
      const secret = flags.secret === true ? { secret: await readSecret('The secret') } : {}
      const body = { url, events: flags.events, ...secret }
      const made = await withClient(context, (client) =>
        client.json('/v1/webhooks', 'id', { method: 'POST', body }),
      )
      if (asJson(command)) return printJson(made)
      if (made.secret === undefined) return show(made, false)
      printLine(String(made.secret))
      printNote(`Webhook ${made.id} was made. This is its secret, shown only this once: keep it safe.`)
    })

  webhooks
    .command('list')
    .description('list the webhooks, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse webhooks list'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing = await withClient(context, (client) => client.list('/v1/webhooks', limit))
      printListing(listing, command, {
        columns: ['ID', 'ACTIVE', 'URL'],
        toRow: (row) => ({
          ID: String(row.id),
          ACTIVE: row.active === true ? 'yes' : 'no',
          URL: String(row.url),
        }),
      })
    })

  webhooks
    .command('show <id>')
    .description('show one webhook')
    .addHelpText('after', example('gatehouse webhooks show wh_…'))
    .action(async (id: string, _flags, command: Command) => {
      show(await withClient(context, (client) => client.json(pathOf(id), 'id')), asJson(command))
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
      const body = {
        ...(flags.url === undefined ? {} : { url: flags.url }),
        ...(flags.events === undefined ? {} : { events: flags.events }),
        ...(flags.active === undefined ? {} : { active: flags.active }),
        ...(flags.secret === true ? { secret: await readSecret('The new secret') } : {}),
      }
      if (Object.keys(body).length === 0)
        throw new CliError('usage', 'There is nothing to change: give at least one option.')
      const webhook = await withClient(context, (client) =>
        client.json(pathOf(id), 'id', { method: 'PATCH', body }),
      )
      show(webhook, asJson(command))
    })

  webhooks
    .command('test <id>')
    .description('send an event webhook.test now, once')
    .addHelpText('after', example('gatehouse webhooks test wh_…'))
    .action(async (id: string, _flags, command: Command) => {
      const outcome = await withClient(context, (client) =>
        client.json(`${pathOf(id)}/test`, 'delivered', { method: 'POST', body: {} }),
      )
      if (outcome.delivered !== true && !asJson(command))
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
      await withClient(context, (client) => client.delete(pathOf(id)))
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}

function parseEvents(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

function pathOf(id: string): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`
}

function show(webhook: JsonObject, isJson: boolean): void {
  if (isJson) {
    printJson(webhook)
    return
  }
  const fields: readonly (readonly [string, string])[] = [
    ['id', String(webhook.id)],
    ['url', String(webhook.url)],
    ['events', Array.isArray(webhook.events) ? webhook.events.join(', ') : '-'],
    ['active', webhook.active === true ? 'yes' : 'no'],
    ['created', formatTime(webhook.createdAt)],
  ]
  for (const [name, value] of fields) printLine(`${name.padEnd(9)}${toPrintable(value)}`)
}
