import { type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { type Client, openGateway } from '../client.ts'
import type { CliContext } from '../context.ts'
import { canAsk } from '../input.ts'
import { printJson, printLine, printNote } from '../output.ts'
import { asJson, example } from '../program-parts.ts'
import { terminal } from '../terminal.ts'
import { type AccessFlags, chooseGates, type GateFlags, readAccess } from './choose-gates.ts'
import { CLIENTS, configFolderOf } from './clients.ts'
import type { ConnectedClient, Connection, GateLimits } from './connected-client.ts'
import { backupOf, ConnectedFiles } from './connected-files.ts'
import { diffLines } from './line-diff.ts'

interface ConnectFlags extends AccessFlags, GateFlags {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly undo?: boolean
}

export function bindConnect(program: Command, context: CliContext): void {
  const connect = program
    .command('connect')
    .description('write the configuration of an agent, so that it calls a gate')
  for (const [name, client] of Object.entries<ConnectedClient>(CLIENTS)) {
    const command = connect
      .command(name)
      .description(`configure ${client.title}: shows the change, asks, and keeps a backup`)
      .option('--url <address>', 'address of the gateway (GATEHOUSE_URL)')
      .option('--token-file <path>', 'file with the token (GATEHOUSE_TOKEN, else asked for)')
      .option('--gate <id>', 'gate to call (the only one that the token may call, else asked for)')
    if (client.hasSmallGate)
      command.addOption(new Option('--small-gate <id>', 'gate for small tasks (the same gate)'))
    command
      .option('--dry-run', 'show the change, and write nothing')
      .option('--yes', 'write without asking')
      .option('--undo', 'restore what was there before')
      .addHelpText(
        'after',
        example(
          `gatehouse connect ${name} --url https://gateway.example.com --gate coding`,
          `gatehouse connect ${name} --undo`,
        ),
      )
      .action(async (flags: ConnectFlags) => {
        const files = new ConnectedFiles(configFolderOf(context.environment))
        const file = client.file(context.environment)
        const work = { context, files, name, client, file, flags, isJson: asJson(command) }
        await onFiles(() => (flags.undo ? undo(work) : connectClient(work)))
      })
  }
}

export function bindToken(program: Command, context: CliContext): void {
  program
    .command('token')
    .description('print the token that gatehouse connect saved')
    .addHelpText('after', example('curl -H "Authorization: Bearer $(gatehouse token)" …'))
    .action(async (_flags: object, command: Command) => {
      const files = new ConnectedFiles(configFolderOf(context.environment))
      const token = await onFiles(() => files.readToken())
      if (token === undefined)
        throw new CliError('notFound', 'No token is saved here: run gatehouse connect first.')
      if (asJson(command)) return printJson({ token })
      printLine(token)
    })
}

interface Work {
  readonly context: CliContext
  readonly files: ConnectedFiles
  readonly name: string
  readonly client: ConnectedClient
  readonly file: string
  readonly flags: ConnectFlags
  readonly isJson: boolean
}

async function connectClient(work: Work): Promise<void> {
  const { context, files, name, client, file, flags } = work
  const { now, before } = await files.read(name, file, client)
  const { gateway, token } = await readAccess(context, flags, await files.readToken())
  const asked = openGateway(gateway, {
    apiKey: token,
    cure: 'Ask for another one, or create it: gatehouse tokens create NAME.',
  })
  const gates = await untouched(chooseGates(asked, flags, client))
  const { gate } = gates
  const own = await client.createFile?.(context.environment, asked, { gate, file })
  const connection = {
    base: gateway.base,
    tokenFile: files.tokenFile,
    ownFile: own?.file,
    limits: Object.fromEntries(
      await Promise.all(
        [...new Set([gate, gates.smallGate])].map(async (each) => [
          each,
          await readLimits(asked, each),
        ]),
      ),
    ),
    ...gates,
  }
  noteAssumedContext(client, gate, connection.limits)
  const after = client.write(before, connection, file)
  const changes = diffLines(now, after)
  if (!(await isAgreed(work, changes, 'Write'))) return
  await saveToken(files, token)
  if (own !== undefined) await files.writeOwn(own)
  await files.write(name, file, { before, after })
  const tried = [...new Set([gates.gate, gates.smallGate])]
  for (const each of tried) await tryGate(asked, client, each)
  notePrecedence(work)
  if (work.isJson) return printJson({ client: name, file, ...gates, written: true, works: true })
  printLine(
    `${client.title} works: a test call through ${tried.map((gate) => `'${gate}'`).join(' and ')} ` +
      `was answered.\nNext: ${client.start(file)}\nUndo: gatehouse connect ${name} --undo`,
  )
}

function noteAssumedContext(
  { title, assumedContext }: ConnectedClient,
  gate: string,
  limits: Connection['limits'],
): void {
  if (assumedContext === undefined || limits[gate]?.context !== undefined) return
  printNote(
    `The context of the gate '${gate}' is not known, so ${title} assumes ${assumedContext}. ` +
      `Set it: gatehouse gates update ${gate} --fact contextTokens=N, and connect again.`,
  )
}

async function readLimits(client: Client, id: string): Promise<GateLimits> {
  const { context_length: context, max_output_tokens: output } = await client.callNamed(
    'GET /v1/models/{id}',
    'id',
    { path: { id } },
  )
  return {
    context: typeof context === 'number' ? context : undefined,
    output: typeof output === 'number' ? output : undefined,
  }
}

async function undo(work: Work): Promise<void> {
  const { files, name, client, file } = work
  if (!(await files.isConnected(file)))
    throw new CliError('notFound', `There is no backup ${backupOf(file)}: nothing to undo.`)
  const { now, before } = await files.read(name, file, client)
  if (!(await isAgreed(work, diffLines(now, before), 'Restore'))) return
  await files.restore(name, file, before)
  if (client.ownFileOf !== undefined) await files.removeOwn(client.ownFileOf(file))
  const isRemoved = await files.removeUnusedToken()
  if (work.isJson) return printJson({ client: name, file, restored: true })
  printLine(`Restored ${file}.${isRemoved ? ' The saved token was removed.' : ''}`)
}

/**
 * Shows the changes, and asks for consent.
 * @returns false for a dry run
 * @throws CliError when the person does not agree, or cannot be asked
 */
async function isAgreed(
  { client, file, name, flags, isJson }: Work,
  changes: readonly string[],
  verb: 'Write' | 'Restore',
): Promise<boolean> {
  if (flags.dryRun) {
    if (isJson) printJson({ client: name, file, changes, written: false })
    else for (const line of [file, ...changes]) printLine(line)
    printNote('Nothing was written: this is a dry run.')
    return false
  }
  if (changes.length === 0) {
    printNote(`${file} needs no change for ${client.title}.`)
    return true
  }
  for (const line of [file, ...changes]) printNote(line)
  if (flags.yes) return true
  if (!canAsk()) throw new CliError('usage', 'Nothing was written: add --yes to write it.')
  const answer = await terminal().askYes(`${verb} ${file}?`)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled. Nothing was written.')
  if (!answer) throw new CliError('failed', 'Nothing was written.')
  return true
}

async function saveToken(files: ConnectedFiles, token: string): Promise<void> {
  const saved = await files.readToken()
  if (saved !== undefined && saved !== token)
    printNote(`The token in ${files.tokenFile} was replaced, for all clients that were connected.`)
  await files.writeToken(token)
}

async function tryGate(asked: Client, client: ConnectedClient, gate: string): Promise<void> {
  const { operation, member, body } = client.testCall(gate)
  await asked.callNamed(operation, member, { body }).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      error.failure,
      `${client.title} is configured, but a test call through the gate '${gate}' failed: ` +
        error.message,
      error.code,
    )
  })
}

function notePrecedence({ context, client }: Work): void {
  for (const name of client.precedence.filter((each) => context.environment[each]))
    printNote(`${name} is set in this shell and takes precedence: unset it.`)
}

async function untouched<Result>(work: Promise<Result>): Promise<Result> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    throw new CliError(error.failure, `${error.message} Nothing was written.`, error.code)
  })
}

async function onFiles<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { path } = error as { path?: unknown }
    if (error instanceof CliError || !(error instanceof Error) || typeof path !== 'string')
      throw error
    throw new CliError('failed', `${path} cannot be used (${error.message}).`)
  }
}
