/** `gatehouse gates`. */
import type { Command } from 'commander'
import type { Schemas } from '../../contract/api.generated.ts'
import { CliError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import type { CliContext } from '../context.ts'
import { addFusedStops, withClearFuse } from '../fuse-verbs.ts'
import { addAct, addDelete, addList, addShow, changesOf, idOf } from '../resource-verbs.ts'
import { needsCurrent, toGateBody } from './gate-body.ts'
import { type GateFlags, withGateOptions } from './gate-options.ts'
import { showGate, targetsOf } from './show-gate.ts'
import { showTest } from './show-test.ts'

export function bindGates(program: Command, context: CliContext): void {
  const gates = program
    .command('gates')
    .description('gates: names that applications call in place of a model')

  addAct(gates, context, {
    name: 'create',
    argument: ['id', 'the name that calls use as the model'],
    about: 'create a gate, with one --target or more',
    examples: [
      'gatehouse gates create assistant --target openai/gpt-5-mini',
      'gatehouse gates create fast --target groq/llama-3.3-70b-versatile --target openai/gpt-4o-mini',
    ],
    options: withGateOptions,
    toBody(flags: GateFlags, id) {
      const { targets, ...settings } = toGateBody(flags)
      if (targets === undefined)
        throw new CliError('usage', 'A gate needs a target: give --target provider/model.')
      return { id, ...settings, targets }
    },
    send: (client, _, body) => client.call('POST /v1/gates', 'id', { body }),
    show: showGate,
  })

  addList(gates, context, {
    ask: 'GET /v1/gates',
    about: 'list the gates, newest first',
    examples: ['gatehouse gates list'],
    columns: async (client) => {
      const fallbacks = await findFallbacks(client)
      return {
        ID: (row) => row.id,
        TARGETS: (row) => targetsOf(row).join(', '),
        ...(fallbacks.length > 0 ? { 'ON FALLBACK': (row) => shareOf(fallbacks, row.id) } : {}),
      }
    },
  })

  addShow(gates, context, {
    ask: 'GET /v1/gates/{id}',
    one: 'gate',
    about: 'show one gate, and why a fallback answers',
    examples: ['gatehouse gates show assistant'],
    show: showGate,
    async findFacts(client, { id }) {
      const found = (await findFallbacks(client)).find(({ gate }) => gate === id)
      return found === undefined
        ? []
        : [['on fallback', `${shareOf([found], id)} of calls lately. ${found.message}`]]
    },
  })

  addAct(gates, context, {
    name: 'update',
    argument: ['id', idOf('gate')],
    about: 'change a gate; only the given options change',
    examples: [
      'gatehouse gates update assistant --target openai/gpt-5 --max-retries 1',
      'gatehouse gates update assistant --fuse-usd 20 --fuse-calls 60 --fuse-minutes 5',
    ],
    options: (command) =>
      withClearFuse(withGateOptions(command))
        .option('--clear-defaults', 'remove all defaults except those given with it')
        .option('--clear-aliases', 'remove all aliases except those given with it')
        .option('--clear-facts', 'remove all facts except those given with it'),
    toBody(flags: GateFlags) {
      changesOf(toGateBody(flags))
      return flags
    },
    async send(client, id, flags) {
      // Defaults, and parts of the fuse, change together, so the unchanged ones are read first.
      const current = needsCurrent(flags)
        ? await client.call('GET /v1/gates/{id}', 'id', { path: { id } })
        : {}
      const body = toGateBody(flags, current)
      return await client.call('PATCH /v1/gates/{id}', 'id', { path: { id }, body })
    },
    show: showGate,
  })

  addAct(gates, context, {
    name: 'test',
    argument: ['id', idOf('gate')],
    about: 'send one small call to every target of a gate; these calls count and are logged',
    examples: ['gatehouse gates test assistant'],
    toBody: () => undefined,
    send: (client, id) => client.call('POST /v1/gates/{id}/test', 'results', { path: { id } }),
    show: showTest,
  })

  addFusedStops(gates, context, { path: '/v1/gates', one: 'gate', example: 'assistant' })

  addDelete(gates, context, {
    ask: 'DELETE /v1/gates/{id}',
    one: 'gate',
    about: 'delete a gate; calls through the gate are refused at once, and its budgets stay',
    examples: ['gatehouse gates delete assistant --yes'],
    findRest: findBudgetsOf,
  })
}

type Fallback = Schemas['GateFallback']

async function findFallbacks(client: Client): Promise<readonly Fallback[]> {
  const asked = client.call('GET /v1/targets/fallbacks', 'data')
  return (await asked.catch((error) => ({ data: ifRefused(error).rows }))).data
}

function shareOf(fallbacks: readonly Fallback[], gateId: string): string {
  const found = fallbacks.find(({ gate }) => gate === gateId)
  return found === undefined ? '-' : `${Math.round(found.share * 100)} %`
}

/** Budgets of a deleted gate remain, and limit a new gate with the same id. */
async function findBudgetsOf(client: Client, gateId: string): Promise<readonly string[]> {
  const { rows } = await client.listAll('GET /v1/budgets', MOST_BUDGETS).catch(ifRefused)
  return rows
    .filter((budget) => budget.gateId === gateId)
    .map(
      ({ id }) =>
        `The budget ${id} of the gate stays, and limits a new gate with this id. ` +
        `Delete it with: gatehouse budgets delete ${id}`,
    )
}

function ifRefused(error: unknown): { readonly rows: readonly [] } {
  if (error instanceof CliError) return { rows: [] }
  throw error
}

const MOST_BUDGETS = 10_000
