/** `stop` and `start` for members and access tokens. */
import type { Command } from 'commander'
import type { Client } from './client.ts'
import type { CliContext } from './context.ts'
import { printJson, printLine } from './output.ts'
import { addAct, describeEnd } from './resource-verbs.ts'

interface Stoppable {
  readonly path: '/v1/members' | '/v1/access-tokens'
  readonly argument: readonly [name: string, help: string]
  /** `member` */
  readonly one: string
  readonly example: string
  findId(client: Client, given: string): Promise<string>
}

export function addStops(
  resource: Command,
  context: CliContext,
  { path, argument, one, example, findId }: Stoppable,
): void {
  addAct(resource, context, {
    name: 'stop',
    argument,
    about: `refuse all calls of the ${one} until start, and end the running ones`,
    examples: [`gatehouse ${resource.name()} stop ${example} --reason "The laptop was stolen."`],
    options: (command) => command.option('--reason <text>', 'shown to the stopped caller'),
    toBody: ({ reason }: { reason?: string }) => (reason === undefined ? {} : { reason }),
    async send(client, given, body) {
      const id = await findId(client, given)
      const report = await client.call(`POST ${path}/{id}/stop`, 'stopped', { path: { id }, body })
      return { id, ...report }
    },
    show(stopped, isJson) {
      if (isJson) return printJson(stopped)
      printLine(`Stopped ${stopped.id}.${describeEnd(stopped)}`)
    },
  })

  addAct(resource, context, {
    name: 'start',
    argument,
    about: `lift the stop of the ${one}`,
    examples: [`gatehouse ${resource.name()} start ${example}`],
    toBody: () => undefined,
    async send(client, given) {
      const id = await findId(client, given)
      await client.remove(`DELETE ${path}/{id}/stop`, { path: { id } })
      return { id, stopped: false }
    },
    show(started, isJson) {
      if (isJson) return printJson(started)
      printLine(`${started.id} is not stopped.`)
    },
  })
}
