/** `gatehouse models set-price` and `unset-price`: prices that the server stores at run time. */
import { type Command, InvalidArgumentError } from 'commander'
import { CliError } from '../cli-error.ts'
import { withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { printJson, printLine } from '../output.ts'
import { asJson, example } from '../program-parts.ts'

interface PriceFlags {
  readonly input?: number
  readonly output?: number
  readonly cachedInput?: number
  readonly cacheWrite?: number
  readonly from?: string
  readonly like?: string
}

export function bindSetPrice(models: Command, context: CliContext): void {
  models
    .command('set-price')
    .argument('<target>', 'the model as provider/model, as a gate names it')
    .description(
      'set the price of a model that has none, on all nodes; needs GATEHOUSE_OPERATOR_API=on',
    )
    .option('--input <usd>', 'US dollars per million input tokens', parsePrice)
    .option('--output <usd>', 'US dollars per million output tokens', parsePrice)
    .option('--cached-input <usd>', 'US dollars per million cached input tokens', parsePrice)
    .option('--cache-write <usd>', 'US dollars per million tokens written to a cache', parsePrice)
    .option('--from <date>', 'only for calls that begin on this date or later')
    .option('--like <target>', 'the model that provides absent prices')
    .addHelpText(
      'after',
      example(
        'gatehouse models set-price anthropic/claude-fable-5-2 --input 5 --output 25',
        'gatehouse models set-price openai/gpt-6.2-sol --like openai/gpt-5',
      ),
    )
    .action(async (target: string, { like, ...flags }: PriceFlags, command: Command) => {
      const path = parseTarget(target)
      const prices = Object.keys(flags).length === 0 ? undefined : [flags]
      if (like === undefined && prices === undefined)
        throw new CliError('usage', 'Give --input and --output, or --like.')
      const saved = await withClient(context, (client) =>
        client.call('PUT /v1/provider-models/{provider}/{model}', 'model', {
          path,
          body: { like, prices },
        }),
      )
      if (asJson(command)) printJson(saved)
      else printLine(`Set the price of ${saved.model}. It applies to calls from now on.`)
    })

  models
    .command('unset-price')
    .argument('<target>', 'the model as provider/model')
    .description('delete a price that set-price stored')
    .addHelpText('after', example('gatehouse models unset-price anthropic/claude-fable-5-2'))
    .action(async (target: string, _flags, command: Command) => {
      const path = parseTarget(target)
      await withClient(context, (client) =>
        client.remove('DELETE /v1/provider-models/{provider}/{model}', { path }),
      )
      if (asJson(command)) printJson({ model: target, deleted: true })
      else printLine(`Deleted the stored price of ${target}.`)
    })
}

/** @throws CliError `usage` */
export function parseTarget(target: string): { readonly provider: string; readonly model: string } {
  const slash = target.indexOf('/')
  if (slash < 1)
    throw new CliError('usage', `'${target}' is not provider/model, such as openai/gpt-5.`)
  return { provider: target.slice(0, slash), model: target.slice(slash + 1) }
}

function parsePrice(text: string): number {
  const price = Number(text)
  if (text.trim() === '' || !Number.isFinite(price) || price < 0)
    throw new InvalidArgumentError('A price must be a number of at least 0.')
  return price
}
